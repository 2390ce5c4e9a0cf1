"""Refine: the first passage answers, each later one may change the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, TypeAlias, Unpack

from responsa.packing.budget import MARGIN, Budget
from responsa.packing.cutting import shorten
from responsa.packing.fitting import Fitted, Messages, fit
from responsa.packing.packer import Counted, pack, pack_each
from responsa.packing.passages import EMPTY, Pack
from responsa.programs import LLMCall, Program, count, emit, measure, warn
from responsa.prompts import BasePromptTemplate, DefaultPrompts, may_refuse, refuses
from responsa.schema.errors import InvalidOption, ResponsaError, WindowTooSmall
from responsa.schema.events import AnswerReplaced
from responsa.schema.protocols import LLM

from .asking import ask_for, build_call
from .base import BaseSynthesizer
from .options import SynthesizerOptions
from .structure import DecisionStructure, Reply, Structure
from .task import Answer, Task
from .window import Window, warn_of_shrunk, whole

RefinePolicy: TypeAlias = Literal["rewrite", "decide"]

# The least room of a refining prompt, in tokens: a passage and the answer so far.
_MIN_ROOM: Final = 96
_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class _Course:
    """What every call shows, and what its window is shared out to.

    Args:
        packs: What each call shows.
        opening: The first call's messages.
        opening_tokens: Their length.
        first: The budget of a call without an answer so far.
        refining: The budget of a call with one.
        later: That of every call but the first: of the two kinds the smaller answer, so that a plan holds.
        reserve: Tokens kept in it for the answer so far.
    """

    packs: list[Pack]
    opening: Messages
    opening_tokens: int
    first: Budget
    refining: Budget
    later: Budget
    reserve: int

    def most_tokens(self, pack: Pack) -> int:
        """Return the most tokens a later call's prompt can have, whatever was answered before."""
        longest = max(self.first.fixed, self.refining.fixed + self.reserve) + pack.tokens + MARGIN
        return min(longest, self.later.window - self.later.output)


class Refine(BaseSynthesizer):
    """Answer from the first passage, then improve the answer with each later one: K calls, one after another.

    The room of every prompt is planned with the real question and with a reserve for the answer so far, so that K
    does not depend on the answers. An answer that outgrows its reserve is carried on in shortened form, with a
    warning. "I don't know" never replaces an answer. With a keyword `prev_response` beside the question, that answer
    is improved, from the first passage on.

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
    packs_together: ClassVar[bool] = False

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
        decides = structured_answer_filtering or refine_policy == "decide"
        self._first_structure: Structure | None = decision if structured_answer_filtering else self._structure
        self._refine_structure: Structure | None = decision if decides else self._structure

    @property
    def writes_text(self) -> bool:
        return self._first_structure is None and self._refine_structure is None

    def exact_plan(self) -> bool:
        return self._refine_structure is None

    def program(self, task: Task) -> Program[Answer]:
        window = yield from self.window(task)
        task = yield from window.fit_history(task, lambda task: self._first_messages(task, EMPTY))
        kept = Reply(str(task.variables.get("prev_response") or ""))
        course = yield from self._plan_course(task, window, continued=bool(kept.text))
        for position in range(len(course.packs)):
            known = bool(kept.text) and not refuses(kept.text)
            try:
                call = yield from self._call(task, course, position, kept.text if known else None)
                budget = course.later if position or known else course.first
                reply = yield from ask_for(call, task, budget, self._structure_of(refines=known))
            except ResponsaError as error:
                if not kept.text:
                    raise
                yield from emit(AnswerReplaced(kept.text))
                yield from warn("step_failed", stage=_stage(position, known), reason=str(error))
                return Answer(kept.text, kept.value, error=error)
            if reply.text and reply.satisfied and not (known and refuses(reply.text)):
                kept = reply
                if position or not call.visible:
                    yield from emit(AnswerReplaced(kept.text))
                if self._stops and not call.visible and not reply.planned:
                    break
        if not kept.text and isinstance(self._first_structure, DecisionStructure):
            return Answer(task.prompts.refusal)  # no passage was found to answer the question
        return Answer(kept.text, kept.value)

    def _structure_of(self, *, refines: bool) -> Structure | None:
        return self._refine_structure if refines else self._first_structure

    def _plan_course(self, task: Task, window: Window, *, continued: bool) -> Program[_Course]:
        """Plan all calls: one if everything fits a first prompt, else as many as the smaller room needs."""
        if not continued and (self.packs_together or len(task.passages) == 1):
            fitting = yield from whole(task, lambda pack: self._first_messages(task, pack), window)
            if fitting is not None:
                budget, fitted = fitting
                return _Course(fitted.packs, fitted.messages[0], fitted.tokens[0], budget, budget, budget, reserve=0)
        counted = yield from window.count(task)
        (fixed,) = yield from measure([self._first_messages(task, EMPTY)])
        first = refining = window.share_out(fixed)
        fitted = yield from self._fit(task, counted, first)
        reserve = 0
        if len(fitted.packs) > 1 or continued:
            (fixed,) = yield from measure([self._refine_messages(task, EMPTY, "")])
            refining = window.share_out(fixed, min_room=_MIN_ROOM, limited=False)
            reserve = min(refining.output, refining.room // 3)
            room = min(first.room, refining.room - reserve)
            fitted = yield from self._fit(task, counted, replace(first, room=room))
        yield from warn_of_shrunk(min(first, refining, key=lambda budget: budget.output))
        later = replace(refining, output=min(first.output, refining.output))
        return _Course(fitted.packs, fitted.messages[0], fitted.tokens[0], first, refining, later, reserve)

    def _fit(self, task: Task, counted: Counted, budget: Budget) -> Program[Fitted]:
        packer = pack if self.packs_together else pack_each
        return fit(counted, lambda pack: self._first_messages(task, pack), budget, packer=packer, measured=1)

    def _call(self, task: Task, course: _Course, position: int, answer: str | None) -> Program[LLMCall]:
        """Build the call of a pack: a refining one where there is an answer so far."""
        pack = course.packs[position]
        refines = answer is not None
        later = refines or position > 0
        if answer is not None:
            messages, tokens = yield from self._refining(task, course, pack, answer)
        elif position == 0:
            messages, tokens = course.opening, course.opening_tokens
        else:
            messages = self._first_messages(task, pack)
            (tokens,) = yield from measure([messages])
            _check(course.later, tokens)
        return build_call(
            _stage(position, refines),
            task,
            course.later if later else course.first,
            messages,
            tokens,
            pack,
            visible=not isinstance(self._structure_of(refines=refines), DecisionStructure),
            draft=position < len(course.packs) - 1,
            hold_back=may_refuse if refines else None,
            most_tokens=course.most_tokens(pack) if later else None,
        )

    def _refining(self, task: Task, course: _Course, pack: Pack, answer: str) -> Program[tuple[Messages, int]]:
        """Build and measure a refining prompt; the answer so far gives way until it fits."""
        budget = course.later
        room = course.reserve
        shortened = answer
        # No text has more tokens than bytes: an answer that is short is not worth a count.
        length = len(answer.encode("utf-8", "surrogatepass")) + 1
        if length > room:
            (length,) = yield from count([answer])
        for _ in range(_ROUNDS):
            if length > room:
                shortened = yield from shorten(answer, room)
            messages = self._refine_messages(task, pack, shortened)
            (tokens,) = yield from measure([messages])
            excess = tokens + budget.output - budget.window
            if excess <= 0:
                break
            (length,) = yield from count([answer])
            room = min(room, length) - excess - 1
        _check(budget, tokens)
        if shortened != answer:
            yield from warn("answer_shortened", stage="refine", tokens=length, room=room)
        return messages, tokens

    def _first_messages(self, task: Task, pack: Pack) -> Messages:
        return task.messages(self.template("text_qa_template", task), pack)

    def _refine_messages(self, task: Task, pack: Pack, answer: str) -> Messages:
        return task.messages(self.template("refine_template", task), pack, existing_answer=answer)

    def _default_template(self, name: str, prompts: DefaultPrompts) -> BasePromptTemplate:
        if isinstance(self._structure_of(refines=name == "refine_template"), DecisionStructure):
            return prompts.refine_decide if name == "refine_template" else prompts.text_qa_decide
        return super()._default_template(name, prompts)


def _stage(position: int, refines: bool) -> str:
    """Return what a call is for; every one but the first counts as refining, also where no answer is there yet."""
    return "refine" if position or refines else "answer"


def _check(budget: Budget, tokens: int) -> None:
    if tokens + budget.output > budget.window:
        table = (("prompt", tokens), ("answer", budget.output))
        raise WindowTooSmall(budget.window, table)
