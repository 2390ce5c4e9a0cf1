"""Refine: the first passage answers, each later one may change the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Unpack

from responsa.packing.budget import Budget, share_out, wanted_output
from responsa.packing.cutting import shorten
from responsa.packing.fitting import Messages, budget_for, fit
from responsa.packing.packer import Counted, count_passages, pack_each
from responsa.packing.passages import Pack
from responsa.programs import LLMCall, Program, count, emit, measure, warn
from responsa.prompts import BasePromptTemplate, may_refuse, refuses
from responsa.schema.errors import ResponsaError, WindowTooSmall
from responsa.schema.events import AnswerReplaced
from responsa.schema.protocols import LLM

from .asking import Reply, ask_for, build_call
from .base import BaseSynthesizer, SynthesizerOptions
from .task import Answer, Task

# The least room of a refining prompt, in tokens: a passage and the answer so far.
_MIN_ROOM: Final = 96
_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class _Course:
    """What every call shows, and what its window is shared out to.

    Args:
        packs: What each call shows.
        first: The budget of a call without an answer so far.
        refining: The budget of a call with one.
        reserve: Tokens kept in it for the answer so far.
    """

    packs: list[Pack]
    first: Budget
    refining: Budget
    reserve: int


class Refine(BaseSynthesizer):
    """Answer from the first passage, then improve the answer with each later one: K calls, one after another.

    The room of every prompt is planned with the real question and with a reserve for the answer so far, so that K
    does not depend on the answers. An answer that outgrows its reserve is carried on in shortened form, with a
    warning. "I don't know" never replaces an answer.

    Args:
        text_qa_template: The first question; variables `query_str`, `context_str`.
        refine_template: The later ones; variables `query_str`, `existing_answer`, `context_msg`.
    """

    mode: ClassVar[str] = "refine"

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        text_qa_template: BasePromptTemplate | None = None,
        refine_template: BasePromptTemplate | None = None,
        **options: Unpack[SynthesizerOptions],
    ) -> None:
        super().__init__(llm, **options)
        self._prompts = {"text_qa_template": text_qa_template, "refine_template": refine_template}

    def program(self, task: Task) -> Program[Answer]:
        course = yield from self._plan_course(task)
        last = len(course.packs) - 1
        kept = Reply("")
        for position, pack in enumerate(course.packs):
            known = bool(kept.text) and not refuses(kept.text)
            if known:
                call, budget = (yield from self._refine(task, course, pack, kept.text)), course.refining
            else:
                call, budget = (yield from self._first(task, course, pack)), course.first
            try:
                reply = yield from ask_for(replace(call, draft=position < last), task, budget, self._structure)
            except ResponsaError as error:
                if not kept.text:
                    raise
                yield from emit(AnswerReplaced(kept.text))
                return Answer(kept.text, kept.value, error=error)
            if reply.text and not (known and refuses(reply.text)):
                kept = reply
                if position:
                    yield from emit(AnswerReplaced(kept.text))
        return Answer(kept.text, kept.value)

    def _pack(self, counted: Counted, room: int) -> Program[list[Pack]]:
        return pack_each(counted, room)

    def _plan_course(self, task: Task) -> Program[_Course]:
        """Plan all calls: one if everything fits a first prompt, else as many as the smaller room needs."""
        limits = yield from self._limits()
        window, wanted = limits.context_window, wanted_output(limits, task.sampling)
        counted = yield from count_passages(task.passages)
        first = yield from budget_for(lambda context: self._qa_messages(task, context), window, wanted)
        packs = yield from self._fit(task, counted, first)
        course = _Course(packs, first, first, reserve=0)
        if len(packs) > 1:
            (fixed,) = yield from measure([self._refine_messages(task, "", "")])
            refining = share_out(window, fixed, wanted, min_room=_MIN_ROOM)
            reserve = min(refining.output, refining.room // 3)
            room = min(first.room, refining.room - reserve)
            packs = yield from self._fit(task, counted, replace(first, room=room))
            course = _Course(packs, first, refining, reserve)
        given = min(course.first.output, course.refining.output)
        if given < wanted:
            yield from warn("output_reserve_shrunk", wanted=wanted, given=given, window=window)
        return course

    def _fit(self, task: Task, counted: Counted, budget: Budget) -> Program[list[Pack]]:
        fitted = yield from fit(
            counted, lambda context: self._qa_messages(task, context), budget, packer=self._pack, measured=1
        )
        return fitted.packs

    def _first(self, task: Task, course: _Course, pack: Pack) -> Program[LLMCall]:
        messages = self._qa_messages(task, pack.render())
        (tokens,) = yield from measure([messages])
        return build_call("answer", task, course.first, messages, tokens, pack)

    def _refine(self, task: Task, course: _Course, pack: Pack, answer: str) -> Program[LLMCall]:
        """Build a refining call; the answer so far gives way until the measured prompt fits."""
        context = pack.render()
        budget = course.refining
        (length,) = yield from count([answer])
        room = course.reserve
        shortened = answer
        for _ in range(_ROUNDS):
            if length > room:
                shortened = yield from shorten(answer, room)
            messages = self._refine_messages(task, shortened, context)
            (tokens,) = yield from measure([messages])
            excess = tokens + budget.output - budget.window
            if excess <= 0:
                if shortened != answer:
                    yield from warn("answer_shortened", stage="refine", tokens=length, room=room)
                call = build_call("refine", task, budget, messages, tokens, pack)
                return replace(call, hold_back=may_refuse)
            room = min(room, length) - excess - 1
        table = (("refine prompt", tokens), ("answer", budget.output), ("excess", excess))
        raise WindowTooSmall(budget.window, table)

    def _qa_messages(self, task: Task, context: str) -> Messages:
        return task.messages(self._prompts["text_qa_template"] or task.prompts.text_qa, context_str=context)

    def _refine_messages(self, task: Task, answer: str, context: str) -> Messages:
        template = self._prompts["refine_template"] or task.prompts.refine
        return task.messages(template, existing_answer=answer, context_msg=context, context_str=context)
