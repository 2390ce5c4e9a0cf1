"""What happens while a program runs, as small frozen records: the same in Python, over HTTP and in a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from .calls import LLMCall
from .citations import Citation
from .completions import Completion
from .nodes import NodeWithScore
from .notices import Notice
from .plans import Plan


@dataclass(frozen=True, slots=True)
class PlanMade:
    """The calls that will be made are known."""

    type: ClassVar[str] = "plan"
    plan: Plan


@dataclass(frozen=True, slots=True)
class QuestionRewritten:
    """The search is made with `rewritten` instead of the user's own words."""

    type: ClassVar[str] = "rewrite"
    question: str
    rewritten: str


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The passages an answer will rest on, numbered from 1 in this order."""

    type: ClassVar[str] = "sources"
    nodes: tuple[NodeWithScore, ...]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A call is about to be sent."""

    type: ClassVar[str] = "step_started"
    number: int
    call: LLMCall


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning; never part of the answer."""

    type: ClassVar[str] = "reasoning_delta"
    text: str
    number: int
    item: int | None = None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer.

    Args:
        text: The piece.
        number: The call it belongs to.
        provisional: Whether a later call may replace it.
        item: Which of several answers it belongs to, from 0.
    """

    type: ClassVar[str] = "text_delta"
    text: str
    number: int
    provisional: bool = False
    item: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerReplaced:
    """The draft shown so far is replaced by `text`."""

    type: ClassVar[str] = "answer_replaced"
    text: str


@dataclass(frozen=True, slots=True)
class CitationFound:
    """A sentence of the answer is tied to a source."""

    type: ClassVar[str] = "citation"
    citation: Citation
    number: int
    provisional: bool = False
    item: int | None = None


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A call has ended: with a completion, or with an error."""

    type: ClassVar[str] = "step_finished"
    number: int
    stage: str
    completion: Completion | None = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class WarningRaised:
    """Something the reader should know."""

    type: ClassVar[str] = "warning"
    notice: Notice


@dataclass(frozen=True, slots=True)
class ErrorRaised:
    """The program failed; nothing follows but the error itself."""

    type: ClassVar[str] = "error"
    error: Exception


@dataclass(frozen=True, slots=True)
class Done:
    """The program's result; always last."""

    type: ClassVar[str] = "done"
    response: Any


Event: TypeAlias = (
    PlanMade
    | QuestionRewritten
    | SourcesFound
    | StepStarted
    | ReasoningDelta
    | TextDelta
    | AnswerReplaced
    | CitationFound
    | StepFinished
    | WarningRaised
    | ErrorRaised
    | Done
)
