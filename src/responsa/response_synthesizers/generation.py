"""Generation: the question alone."""

from __future__ import annotations

from typing import ClassVar, Unpack

from responsa.programs import Program, measure
from responsa.prompts import BasePromptTemplate
from responsa.schema.protocols import LLM

from .asking import ask_for, build_call
from .base import BaseSynthesizer
from .options import SynthesizerOptions
from .task import Answer, Task
from .window import warn_of_shrunk


class Generation(BaseSynthesizer):
    """Ask the model the question alone, in one call, with or without passages.

    The passages are kept as sources, but the answer does not rest on them: `grounded` is false.

    Args:
        simple_template: The question; variable `query_str`.
    """

    mode: ClassVar[str] = "generation"
    needs_passages: ClassVar[bool] = False

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        simple_template: BasePromptTemplate | None = None,
        **options: Unpack[SynthesizerOptions],
    ) -> None:
        super().__init__(llm, **options)
        self._prompts = {"simple_template": simple_template}

    def program(self, task: Task) -> Program[Answer]:
        window = yield from self.window(task)
        template = self.template("simple_template", task)
        task = yield from window.fit_history(task, lambda task: task.messages(template))
        messages = task.messages(template)
        (tokens,) = yield from measure([messages])
        budget = window.share_out(tokens, min_room=0)
        yield from warn_of_shrunk(budget)
        call = build_call("answer", task, budget, messages, tokens)
        reply = yield from ask_for(call, task, budget, self._structure)
        return Answer(reply.text, reply.value, grounded=False)
