"""The events of an answer as JSON. A token's event is made by hand: there may be ten thousand a second."""

from __future__ import annotations

import time
from json.encoder import encode_basestring
from typing import Any, TypeAlias

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

from ..compact_json import compact_json
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
        match event:
            case TextDelta() | ReasoningDelta():
                return event.type, _delta(event)
            case PlanMade(plan):
                value: Any = plan_json(plan)
            case QuestionRewritten(question, rewritten):
                value = {"question": question, "rewritten": rewritten}
            case SourcesFound(nodes):
                related = hits_of(self._turn.related, first=len(nodes) + 1)
                value = {"hits": hits_of(nodes), "related": related}
            case StepStarted(number, call):
                value = {
                    "call": number,
                    "stage": call.stage,
                    "prompt_tokens": call.prompt_tokens,
                    "max_tokens": call.sampling.max_tokens,
                    "hits": sorted({span.number for span in call.spans}),
                    "item": call.item,
                }
            case AnswerReplaced(text):
                value = {"text": text}
            case CitationFound(citation, number, provisional, item):
                value = {**citation_json(citation), "call": number, "provisional": provisional, "item": item}
            case StepFinished(number, stage, completion, error):
                failure = error_body(error, self._language) if error is not None else None
                value = {"call": number, "stage": stage, **completion_json(completion), "error": failure}
            case WarningRaised(notice):
                value = warning_json(notice, self._language)
            case Done(response):
                whole = response_json(response, self._turn.related, language=self._language, prompts=self._prompts)
                value = {**self._head, **whole, "seconds": round(time.monotonic() - self._began, 4)}
            case _:
                return None
        return event.type, compact_json(value)


def _delta(event: TextDelta | ReasoningDelta) -> str:
    data = f'{{"text":{encode_basestring(event.text)},"call":{event.number}'
    if event.item is not None:
        data += f',"item":{event.item}'
    if type(event) is TextDelta and event.provisional:
        data += ',"provisional":true'
    return data + "}"
