"""The text interface over the event stream: only what is final, in pieces, and the whole response at the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing

from responsa.schema.events import Done, Event, TextDelta
from responsa.schema.response import Response


def text_pieces(events: Generator[Event, None, None]) -> Generator[str, None, Response]:
    """Yield the answer's final text as it comes and return the whole response.

    Raises:
        ResponsaError: A step failed after text of it had been given.
    """
    given: list[str] = []
    with closing(events):
        for event in events:
            if isinstance(event, TextDelta) and not event.provisional:
                given.append(event.text)
                yield event.text
            elif isinstance(event, Done):
                response: Response = event.response
                if rest := _rest(response, "".join(given)):
                    yield rest
    return response


async def atext_pieces(events: AsyncGenerator[Event, None]) -> AsyncGenerator[str | Response, None]:
    """Yield the answer's final text as it comes, and last the whole response; see `text_pieces`."""
    given: list[str] = []
    async with aclosing(events):
        async for event in events:
            if isinstance(event, TextDelta) and not event.provisional:
                given.append(event.text)
                yield event.text
            elif isinstance(event, Done):
                if rest := _rest(event.response, "".join(given)):
                    yield rest
                yield event.response


def _rest(response: Response, given: str) -> str:
    """Return what of the answer was not given yet."""
    text = str(response) if not given else response.text
    if text.startswith(given):
        return text[len(given) :]
    for record in reversed(response.trace):
        if record.error is not None:
            raise record.error
    return ""
