"""The same hits answered in several ways, one after another."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Final

from responsa.schema.completions import Usage
from responsa.schema.errors import ResponsaError
from responsa.schema.events import AnswerReplaced, Done, SourcesFound, TextDelta
from responsa.schema.nodes import NodeWithScore
from responsa.schema.plans import Shown, SourceCoverage
from responsa.schema.response import Response

from ..compact_json import compact_json
from ..errors import error_body
from .hits import hits_of
from .results import response_json
from .turn import Turn


@dataclass(frozen=True, slots=True)
class ModeStarted:
    """A way of answering begins."""

    type: ClassVar[str] = "mode_started"
    mode: str


@dataclass(frozen=True, slots=True)
class ModeFinished:
    """A way of answering has ended, with a response or with an error."""

    type: ClassVar[str] = "mode_finished"
    mode: str
    seconds: float
    first_text_seconds: float | None = None
    response: Response | None = None
    error: Exception | None = None


@dataclass(slots=True)
class Comparison:
    """Turns on one question that differ in their mode; the search is made once, by the first.

    Args:
        turns: The turns.
    """

    turns: Sequence[Turn]

    async def events(self) -> AsyncGenerator[Any, None]:
        """Answer in every way and yield what happens; a way that fails leaves the others alone."""
        nodes = await self.turns[0].find()
        yield SourcesFound(tuple(nodes))
        finished = []
        for turn in self.turns:
            yield ModeStarted(turn.synthesizer.mode)
            finished.append(await _answered(replace(turn, index=None, given=tuple(nodes))))
            yield finished[-1]
        yield Done(finished)


async def _answered(turn: Turn) -> ModeFinished:
    began = time.perf_counter()
    mode = turn.synthesizer.mode
    first: float | None = None
    response: Response | None = None
    try:
        async with aclosing(turn.events()) as events:
            async for event in events:
                if first is None and isinstance(event, TextDelta | AnswerReplaced):
                    first = time.perf_counter() - began
                elif isinstance(event, Done):
                    response = event.response
    except ResponsaError as error:
        return ModeFinished(mode, time.perf_counter() - began, first, error=error)
    return ModeFinished(mode, time.perf_counter() - began, first, response)


_LEAST_FIRST: Final = (Shown.NOT, Shown.CUT, Shown.WHOLE)


def _most_shown(finished: Sequence[ModeFinished]) -> list[SourceCoverage]:
    """Return how much of each hit was shown, those ways last that showed the most of it."""
    rows = [row for one in finished if one.response is not None for row in one.response.coverage]
    return sorted(rows, key=lambda row: _LEAST_FIRST.index(row.shown))


class ComparisonWriter:
    """Writes the events of a comparison.

    Args:
        answer_id: The comparison's identity.
        question: The question.
        language: The language of messages.
    """

    def __init__(self, answer_id: str, question: str, *, language: str) -> None:
        self._answer_id = answer_id
        self._question = question
        self._language = language
        self._nodes: tuple[NodeWithScore, ...] = ()

    def write(self, event: Any) -> tuple[str, str] | None:
        """Return an event's name and its JSON in one line."""
        match event:
            case SourcesFound(nodes):
                self._nodes = nodes
                value: Any = {"hits": hits_of(nodes)}
            case ModeStarted(mode):
                value = {"mode": mode}
            case ModeFinished():
                value = self._row(event)
            case Done(finished):
                value = {
                    "answer_id": self._answer_id,
                    "outcome": "answered",
                    "question": self._question,
                    "hits": hits_of(self._nodes, coverage=_most_shown(finished)),
                    "modes": [self._row(one) for one in finished],
                }
            case _:
                return None
        return event.type, compact_json(value)

    def _row(self, finished: ModeFinished) -> dict[str, Any]:
        first = finished.first_text_seconds
        row: dict[str, Any] = {
            "mode": finished.mode,
            "outcome": "failed",
            "answer": "",
            "items": [],
            "value": None,
            "citations": [],
            "calls": 0,
            "usage": asdict(Usage()),
            "seconds": round(finished.seconds, 4),
            "first_text_seconds": None if first is None else round(first, 4),
            "warnings": [],
            "error": error_body(finished.error, self._language) if finished.error is not None else None,
        }
        if finished.response is not None:
            whole = response_json(finished.response, (), language=self._language, prompts=False)
            row |= {name: whole[name] for name in ("outcome", "answer", "items", "value", "citations", "usage")}
            row |= {"warnings": whole["warnings"], "calls": len(whole["trace"])}
        return row
