"""The text interface over the event stream: only what is final, in pieces, and the whole response at the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing
from typing import Any

from responsa.schema.events import Done, Event, TextDelta
from responsa.schema.response import Response

from .structure import AnswerStructure


class TextPieces:
    """Tells what of each event belongs to the final answer; with a structure, the object as far as it has come.

    Args:
        structure: The form of the answer, where it is an object.
    """

    def __init__(self, structure: AnswerStructure | None = None) -> None:
        self._structure = structure
        self._given: list[str] = []

    def of(self, event: Event) -> list[Any]:
        """Return the pieces that an event adds to the answer; at the end, what is still missing.

        Raises:
            ResponsaError: A step failed after text of it had been given.
        """
        if isinstance(event, TextDelta) and not event.provisional:
            self._given.append(event.text)
            if self._structure is None:
                return [event.text]
            partial = self._structure.partial("".join(self._given))
            return [] if partial is None else [partial]
        if isinstance(event, Done):
            return self._rest(event.response)
        return []

    def _rest(self, response: Response) -> list[Any]:
        if self._structure is not None:
            return [] if response.value is None else [response.value]
        given = "".join(self._given)
        text = response.text if given else str(response)
        if text.startswith(given.strip()):
            rest = text[len(given) :]
            return [rest] if rest else []
        for record in reversed(response.trace):
            if record.error is not None:
                raise record.error
        return []


def text_pieces(
    events: Generator[Event, None, None], structure: AnswerStructure | None = None
) -> Generator[Any, None, Response]:
    """Yield the answer's final text as it comes and return the whole response.

    Args:
        events: The event stream.
        structure: The form of the answer, where it is an object: then partial objects are given, and the whole last.

    Raises:
        ResponsaError: A step failed after text of it had been given.
    """
    pieces = TextPieces(structure)
    with closing(events):
        for event in events:
            yield from pieces.of(event)
            if isinstance(event, Done):
                response: Response = event.response
    return response


async def atext_pieces(
    events: AsyncGenerator[Event, None], structure: AnswerStructure | None = None
) -> AsyncGenerator[Any, None]:
    """Yield the answer's final text as it comes, and last the whole response; see `text_pieces`."""
    pieces = TextPieces(structure)
    async with aclosing(events):
        async for event in events:
            for piece in pieces.of(event):
                yield piece
            if isinstance(event, Done):
                yield event.response
