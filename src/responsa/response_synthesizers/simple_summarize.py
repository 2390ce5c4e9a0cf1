"""Simple summarize: everything in one call."""

from __future__ import annotations

from typing import ClassVar, Unpack

from responsa.packing.budget import wanted_output
from responsa.packing.fitting import Messages, budget_for, fit
from responsa.packing.packer import count_passages, pack_first
from responsa.packing.passages import Pack
from responsa.programs import Program
from responsa.prompts import BasePromptTemplate
from responsa.schema.protocols import LLM

from .asking import ask_for, build_call
from .base import BaseSynthesizer, SynthesizerOptions
from .task import Answer, Task


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
        limits = yield from self._limits()
        template = self._template("text_qa_template", task.prompts.text_qa)

        def build(pack: Pack) -> Messages:
            return task.messages(template, pack)

        budget = yield from budget_for(build, limits.context_window, wanted_output(limits, task.sampling))
        counted = yield from count_passages(task.passages, self._image_tokens)
        fitted = yield from fit(counted, build, budget, packer=pack_first)
        call = build_call("answer", task, budget, fitted.messages[0], fitted.tokens[0], fitted.packs[0])
        reply = yield from ask_for(call, task, budget, self._structure)
        return Answer(reply.text, reply.value)
