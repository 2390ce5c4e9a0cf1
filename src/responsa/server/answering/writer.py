"""The events of an answer as JSON. A token's event is made by hand: there may be ten thousand a second."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, Final, TypeAlias

from responsa.schema.events import (
    AnswerReplaced,
    CitationFound,
    Done,
    Event,
    PlanMade,
    QuestionRewritten,
    ReasoningDelta,
    SourcesFound,
    StepFinished,
    StepStarted,
    TextDelta,
    WarningRaised,
)

from ..errors import error_body
from .hits import citation_json, hits_of
from .results import completion_json, plan_json, response_json, warning_json
from .turn import Turn

Written: TypeAlias = tuple[str, str]


class AnswerWriter:
    """Writes the events of a turn.

    Args:
        answer_id: The answer's identity.
        turn: The turn.
        language: The language of messages, "en" or "zh".
        prompts: Whether the trace shows each call's messages.
    """

    def __init__(self, answer_id: str, turn: Turn, *, language: str, prompts: bool = False) -> None:
        self._head = {"answer_id": answer_id, "question": turn.question, "mode": turn.synthesizer.mode}
        self._turn = turn
        self._language = language
        self._prompts = prompts
        self._began = time.monotonic()

    def write(self, event: Event) -> Written | None:
        """Return an event's name and its JSON in one line; None for one that listeners are not told."""
        if type(event) is TextDelta or type(event) is ReasoningDelta:
            return event.type, _delta(event)
        return event.type, _json(_PAYLOADS[type(event)](self, event))

    def _plan(self, event: PlanMade) -> Any:
        return plan_json(event.plan)

    def _rewrite(self, event: QuestionRewritten) -> Any:
        return {"question": event.question, "rewritten": event.rewritten}

    def _sources(self, event: SourcesFound) -> Any:
        related = hits_of(self._turn.related, first=len(event.nodes) + 1)
        return {"hits": hits_of(event.nodes), "related": related}

    def _step_started(self, event: StepStarted) -> Any:
        call = event.call
        return {
            "call": event.number,
            "stage": call.stage,
            "prompt_tokens": call.prompt_tokens,
            "max_tokens": call.sampling.max_tokens,
            "hits": sorted({span.number for span in call.spans}),
            "item": call.item,
        }

    def _replaced(self, event: AnswerReplaced) -> Any:
        return {"text": event.text}

    def _citation(self, event: CitationFound) -> Any:
        return {
            **citation_json(event.citation),
            "call": event.number,
            "provisional": event.provisional,
            "item": event.item,
        }

    def _step_finished(self, event: StepFinished) -> Any:
        error = error_body(event.error, self._language) if event.error is not None else None
        return {"call": event.number, "stage": event.stage, **completion_json(event.completion), "error": error}

    def _warning(self, event: WarningRaised) -> Any:
        return warning_json(event.notice, self._language)

    def _done(self, event: Done) -> Any:
        rest = response_json(event.response, self._turn.related, language=self._language, prompts=self._prompts)
        return {**self._head, **rest, "seconds": round(time.monotonic() - self._began, 4)}


_PAYLOADS: Final[dict[type[Any], Callable[[AnswerWriter, Any], Any]]] = {
    PlanMade: AnswerWriter._plan,
    QuestionRewritten: AnswerWriter._rewrite,
    SourcesFound: AnswerWriter._sources,
    StepStarted: AnswerWriter._step_started,
    AnswerReplaced: AnswerWriter._replaced,
    CitationFound: AnswerWriter._citation,
    StepFinished: AnswerWriter._step_finished,
    WarningRaised: AnswerWriter._warning,
    Done: AnswerWriter._done,
}


def _delta(event: TextDelta | ReasoningDelta) -> str:
    data = f'{{"text":{encode_basestring(event.text)},"call":{event.number}'
    if event.item is not None:
        data += f',"item":{event.item}'
    if type(event) is TextDelta and event.provisional:
        data += ',"provisional":true'
    return data + "}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
