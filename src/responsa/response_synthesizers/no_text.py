"""No text: the passages as sources, and no answer."""

from __future__ import annotations

from typing import ClassVar

from responsa.programs import Program

from .base import BaseSynthesizer
from .options import OPTIONS_WITHOUT_CALLS
from .task import Answer, Task


class NoText(BaseSynthesizer):
    """Return no text; the passages stand in `source_nodes`. Needs no LLM."""

    mode: ClassVar[str] = "no_text"
    needs_llm: ClassVar[bool] = False
    accepts: ClassVar[frozenset[str]] = OPTIONS_WITHOUT_CALLS

    def program(self, task: Task) -> Program[Answer]:
        return Answer("", grounded=False)
        yield
