"""Simple summarize: everything in one call."""

from __future__ import annotations

from typing import ClassVar, Unpack

from responsa.packing.packer import pack_first
from responsa.programs import Program
from responsa.prompts import BasePromptTemplate
from responsa.schema.protocols import LLM

from .asking import ask_for
from .base import BaseSynthesizer
from .options import SynthesizerOptions
from .task import Answer, Task
from .window import show


class SimpleSummarize(BaseSynthesizer):
    """Show as many passages as fit into one prompt and make exactly one call.

    Whole passages are taken in their order; the first that does not fit is cut at a sentence's end, the rest are left
    out. What was cut stands in the response's coverage and in a warning.

    Args:
        text_qa_template: The question; variables `query_str`, `context_str`.
        chat_content_qa_template: In its place with `multimodal=True`.
    """

    mode: ClassVar[str] = "simple_summarize"

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        text_qa_template: BasePromptTemplate | None = None,
        chat_content_qa_template: BasePromptTemplate | None = None,
        **options: Unpack[SynthesizerOptions],
    ) -> None:
        super().__init__(llm, **options)
        self._prompts = {"text_qa_template": text_qa_template, "chat_content_qa_template": chat_content_qa_template}

    def program(self, task: Task) -> Program[Answer]:
        window = yield from self.window(task)
        shown = yield from show(task, self.template("text_qa_template", task), window, packer=pack_first)
        (call,) = shown.calls("answer", task)
        reply = yield from ask_for(call, task, shown.budget, self._structure)
        return Answer(reply.text, reply.value)
