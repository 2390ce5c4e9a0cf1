"""What of an answer has reached the user, event by event, and what is stored of it however it ends."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from responsa.memory.turns import CLOSED, Turn
from responsa.schema.completions import Delta
from responsa.schema.errors import ChatStoreFault
from responsa.schema.events import AnswerReplaced, Done, Event, ReasoningDelta, TextDelta
from responsa.schema.response import Response


class Delivered:
    """Follows the events of a turn.

    Attributes:
        reasoning: The model's reasoning in the call that speaks now.
    """

    def __init__(self) -> None:
        self.reasoning = ""
        self._number: int | None = None

    def after(self, event: Event) -> Delta | str | Done | None:
        """Return what an event changes: a further piece, a text in the place of all so far, the end, or nothing."""
        if isinstance(event, TextDelta):
            begun, self._number = self._number, event.number
            return Delta(event.text) if begun in (None, event.number) else event.text
        if isinstance(event, ReasoningDelta):
            self.reasoning = event.text if self._number not in (None, event.number) else self.reasoning + event.text
            return Delta(reasoning=event.text)
        if isinstance(event, AnswerReplaced):
            return event.text
        return event if isinstance(event, Done) else None


def stored_extra(response: Response) -> dict[str, Any]:
    """Return what is stored beside an answer: its outcome, its sources and its citations, as JSON can hold them."""
    shown = {row.number: row.shown.value for row in response.coverage}
    return {
        "outcome": response.outcome.value,
        "searched_with": response.searched_with,
        "sources": [
            {
                "node_id": source.node_id,
                "ref_doc_id": source.node.ref_doc_id,
                "score": source.score,
                "text": source.text,
                "metadata": source.metadata,
                "shown": shown.get(number, "not"),
            }
            for number, source in enumerate(response.source_nodes, 1)
        ],
        "citations": [asdict(one) for one in response.citations],
    }


def broken_off(turn: Turn, error: BaseException) -> None:
    """Store what was delivered of an answer that `error` ended.

    Raises:
        ChatStoreFault: It could not be stored, and `error` is not one that must go on, such as Ctrl-C.
    """
    try:
        turn.interrupt(_reason(error))
    except KeyboardInterrupt:  # an impatient second Ctrl-C
        turn.interrupt(_reason(error))
        raise
    except ChatStoreFault:
        turn.abandon()
        if isinstance(error, Exception | GeneratorExit):
            raise


async def abroken_off(turn: Turn, error: BaseException) -> None:
    """Store what was delivered of an answer that `error` ended, without blocking; see `broken_off`."""
    try:
        await turn.ainterrupt(_reason(error))
    except ChatStoreFault:
        turn.abandon()
        if isinstance(error, Exception | GeneratorExit):
            raise


def _reason(error: BaseException) -> str:
    """Return why an answer ended: an error's own words, or that nobody waits for it any more."""
    return (str(error) or type(error).__name__) if isinstance(error, Exception) else CLOSED
