"""Context only: the passages as they are, without a model."""

from __future__ import annotations

from typing import ClassVar

from responsa.packing.passages import SEPARATOR
from responsa.programs import Program

from .base import BaseSynthesizer
from .options import OPTIONS_WITHOUT_CALLS
from .task import Answer, Task


class ContextOnly(BaseSynthesizer):
    """Return the passages joined by a blank line: what a model would be shown. Needs no LLM."""

    mode: ClassVar[str] = "context_only"
    needs_llm: ClassVar[bool] = False
    accepts: ClassVar[frozenset[str]] = OPTIONS_WITHOUT_CALLS

    def program(self, task: Task) -> Program[Answer]:
        return Answer(SEPARATOR.join(passage.body for passage in task.passages))
        yield
