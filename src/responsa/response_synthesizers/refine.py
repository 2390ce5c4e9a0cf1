"""Refine: the first passage answers, each later one may change the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, TypeAlias, Unpack

from responsa.packing.budget import Budget, share_out, wanted_output
from responsa.packing.cutting import shorten
from responsa.packing.fitting import Messages, budget_for, fit
from responsa.packing.packer import Counted, count_passages, pack_each
from responsa.packing.passages import EMPTY, Pack
from responsa.programs import LLMCall, Program, count, emit, measure, warn
from responsa.prompts import BasePromptTemplate, may_refuse, refuses
from responsa.schema.completions import LLMMetadata
from responsa.schema.errors import InvalidOption, ResponsaError, WindowTooSmall
from responsa.schema.events import AnswerReplaced
from responsa.schema.protocols import LLM

from .asking import ask_for, build_call
from .base import BaseSynthesizer, SynthesizerOptions
from .structure import DecisionStructure, Reply
from .task import Answer, Task

RefinePolicy: TypeAlias = Literal["rewrite", "decide"]

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
        chat_content_qa_template: In place of `text_qa_template` with `multimodal=True`.
        chat_content_refine_template: In place of `refine_template` with `multimodal=True`.
        refine_policy: What the model is asked at a later passage: "rewrite" the answer, improved or repeated; or
            "decide", as an object, whether the passage answers the question: a kept answer is carried on as it is.
        structured_answer_filtering: Ask for the decision at every passage, the first too.
        stop_when_satisfied: With decisions: stop at the first passage that answers the question.
    """

    mode: ClassVar[str] = "refine"

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        text_qa_template: BasePromptTemplate | None = None,
        refine_template: BasePromptTemplate | None = None,
        chat_content_qa_template: BasePromptTemplate | None = None,
        chat_content_refine_template: BasePromptTemplate | None = None,
        refine_policy: RefinePolicy = "rewrite",
        structured_answer_filtering: bool = False,
        stop_when_satisfied: bool = False,
        **options: Unpack[SynthesizerOptions],
    ) -> None:
        super().__init__(llm, **options)
        if refine_policy not in ("rewrite", "decide"):
            raise InvalidOption("refine_policy", refine_policy, '"rewrite" or "decide"')
        if stop_when_satisfied and refine_policy == "rewrite" and not structured_answer_filtering:
            raise InvalidOption("stop_when_satisfied", True, 'refine_policy="decide" beside it')
        self._prompts = {
            "text_qa_template": text_qa_template,
            "refine_template": refine_template,
            "chat_content_qa_template": chat_content_qa_template,
            "chat_content_refine_template": chat_content_refine_template,
        }
        self._stops = stop_when_satisfied
        decision = DecisionStructure(self._structure)
        self._first_structure = decision if structured_answer_filtering else self._structure
        decides = structured_answer_filtering or refine_policy == "decide"
        self._refine_structure = decision if decides else self._structure

    def exact_plan(self) -> bool:
        return self._refine_structure is None

    def program(self, task: Task) -> Program[Answer]:
        limits = yield from self._limits()
        task = yield from self._fit_history(task, lambda task: self._first_messages(task, EMPTY), limits)
        course = yield from self._plan_course(task, limits)
        last = len(course.packs) - 1
        kept = Reply("")
        for position, pack in enumerate(course.packs):
            known = bool(kept.text) and not refuses(kept.text)
            structure = self._refine_structure if known else self._first_structure
            if known:
                call, budget = (yield from self._refine(task, course, pack, kept.text)), course.refining
            else:
                call, budget = (yield from self._first(task, course, pack)), course.first
            visible = not isinstance(structure, DecisionStructure)
            call = replace(call, draft=position < last, visible=visible)
            try:
                reply = yield from ask_for(call, task, budget, structure)
            except ResponsaError as error:
                if not kept.text:
                    raise
                yield from emit(AnswerReplaced(kept.text))
                return Answer(kept.text, kept.value, error=error)
            if reply.text and reply.satisfied and not (known and refuses(reply.text)):
                kept = reply
                if position or not visible:
                    yield from emit(AnswerReplaced(kept.text))
                if self._stops and not visible:
                    break
        return Answer(kept.text, kept.value)

    def _pack(self, counted: Counted, room: int) -> Program[list[Pack]]:
        return pack_each(counted, room)

    def _plan_course(self, task: Task, limits: LLMMetadata) -> Program[_Course]:
        """Plan all calls: one if everything fits a first prompt, else as many as the smaller room needs."""
        window, wanted = limits.context_window, wanted_output(limits, task.sampling)
        counted = yield from count_passages(task.passages, self._image_tokens)
        first = yield from budget_for(lambda pack: self._first_messages(task, pack), window, wanted)
        packs = yield from self._fit(task, counted, first)
        course = _Course(packs, first, first, reserve=0)
        if len(packs) > 1:
            (fixed,) = yield from measure([self._refine_messages(task, EMPTY, "")])
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
            counted, lambda pack: self._first_messages(task, pack), budget, packer=self._pack, measured=1
        )
        return fitted.packs

    def _first(self, task: Task, course: _Course, pack: Pack) -> Program[LLMCall]:
        messages = self._first_messages(task, pack)
        (tokens,) = yield from measure([messages])
        return build_call("answer", task, course.first, messages, tokens, pack)

    def _refine(self, task: Task, course: _Course, pack: Pack, answer: str) -> Program[LLMCall]:
        """Build a refining call; the answer so far gives way until the measured prompt fits."""
        budget = course.refining
        (length,) = yield from count([answer])
        room = course.reserve
        shortened = answer
        for _ in range(_ROUNDS):
            if length > room:
                shortened = yield from shorten(answer, room)
            messages = self._refine_messages(task, pack, shortened)
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

    def _first_messages(self, task: Task, pack: Pack) -> Messages:
        filters = isinstance(self._first_structure, DecisionStructure)
        default = task.prompts.text_qa_decide if filters else task.prompts.text_qa
        return task.messages(self._template("text_qa_template", default), pack)

    def _refine_messages(self, task: Task, pack: Pack, answer: str) -> Messages:
        decides = isinstance(self._refine_structure, DecisionStructure)
        default = task.prompts.refine_decide if decides else task.prompts.refine
        return task.messages(self._template("refine_template", default), pack, existing_answer=answer)
