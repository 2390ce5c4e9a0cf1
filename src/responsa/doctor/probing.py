"""Asking a server until the time is up."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from ..http.client import HTTPClient
from ..http.messages import Request
from ..llms.chunks import ChunkReader
from ..schema.completions import Delta, Finish, StreamItem
from ..schema.errors import ServerError, ServerTimeout

T = TypeVar("T")

Tried: TypeAlias = T | ServerError | None
"""What a probe gave: its value, what it failed with, or None where it was not made."""

# Where a server may put a model's reasoning; without one of them it stands in the text, between tags.
REASONING_FIELDS: Final = ("reasoning_content", "reasoning")
IN_TEXT: Final = "<think>"


@dataclass(frozen=True, slots=True)
class StreamSeen:
    """A streamed answer as it came.

    Args:
        text: The answer.
        finish: How it ended.
        reasoning: What the model reasoned before it.
        reasoning_field: The field the reasoning came in, `IN_TEXT`, or None without reasoning.
        arrivals: When pieces came, in seconds after the request was sent: one figure for each read of the network.
    """

    text: str
    finish: Finish
    reasoning: str = ""
    reasoning_field: str | None = None
    arrivals: tuple[float, ...] = ()


class Probing:
    """Asks one server, never longer than its time. Make it inside the running event loop.

    Args:
        client: The server's client.
        seconds: The time for all probes together.
        clock: Tells the time, in seconds.
    """

    def __init__(self, client: HTTPClient, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.client = client
        self.seconds = seconds
        self._clock = clock
        self._ends = asyncio.get_running_loop().time() + seconds

    async def tried(self, probe: Callable[[], Awaitable[T]]) -> Tried[T]:
        """Return what a probe gives or fails with; None once the time is up."""
        if asyncio.get_running_loop().time() >= self._ends:
            return None
        try:
            async with asyncio.timeout_at(self._ends):
                return await probe()
        except TimeoutError:
            return ServerTimeout(self.client.base, self.seconds)
        except ServerError as error:
            return error

    async def stream(self, request: Request, *, reasoning_opened: bool = False) -> StreamSeen:
        """Send a request for a streamed answer and return what came, and when."""
        reader = ChunkReader(request.url, reasoning_opened=reasoning_opened)
        items: list[StreamItem] = []
        arrivals: list[float] = []
        fields: list[str] = []
        sent = self._clock()
        try:
            async with aclosing(self.client.astream(request)) as reads:
                async for events in reads:
                    pieces = [item for data in events for item in reader.feed(data)]
                    if any(isinstance(item, Delta) for item in pieces):
                        arrivals.append(self._clock() - sent)
                    fields += (field for data in events for field in _reasoning_fields(data))
                    items += pieces
            items += reader.finish()
        except ServerError as error:
            raise reader.broken(error) from error
        reasoning = "".join(item.reasoning for item in items if isinstance(item, Delta))
        finish = next((item for item in items if isinstance(item, Finish)), Finish())
        where = (fields[0] if fields else IN_TEXT) if reasoning else None
        return StreamSeen(reader.text_so_far, finish, reasoning, where, tuple(arrivals))


def _reasoning_fields(data: bytes) -> list[str]:
    """Return the fields of a chunk that hold reasoning; chunks are checked by their reader, not here."""
    try:
        choice: Any = json.loads(data)["choices"][0]
        said = choice.get("delta") or choice.get("message") or {}
        return [field for field in REASONING_FIELDS if said.get(field)]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return []
