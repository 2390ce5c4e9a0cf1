"""One message of a session at a time, in the order they came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from responsa.schema.errors import SessionBusy, SessionNotFound

# Messages of one session that may wait behind the one being answered.
MOST_WAITING: Final = 8


@dataclass(slots=True)
class _Line:
    """Those of one session: the one being answered, and those behind it."""

    joining: asyncio.Lock = field(default_factory=asyncio.Lock)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0
    first: Place | None = None
    closed: bool = False


class Lines:
    """Who waits for whom, by session."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    def join(self, session_key: str, on_join: Callable[[bool], Awaitable[bool]]) -> Place:
        """Return the place behind all that have come so far; entering it waits for them.

        Args:
            session_key: The session.
            on_join: Awaited on the way in, with whether others are before it. Returns whether the next may join now;
                else it does after `let_next_join`: so messages are stored in the order they are answered in.

        Raises:
            SessionBusy: As many wait as may.
        """
        line = self._lines.get(session_key)
        if line is not None and line.length > MOST_WAITING:
            raise SessionBusy(line.length)
        return Place(self._lines, session_key, on_join)

    def current(self, session_key: str) -> str | None:
        """Return the identity of the answer under way in a session, or None."""
        line = self._lines.get(session_key)
        return line.first.answer_id if line is not None and line.first is not None else None

    @asynccontextmanager
    async def closed(self, session_key: str) -> AsyncIterator[str | None]:
        """Turn away all that wait or come; yields the identity of the answer under way, which is left alone."""
        line = self._lines.setdefault(session_key, _Line())
        line.length += 1
        line.closed = True
        try:
            yield self.current(session_key)
        finally:
            line.closed = False
            line.length -= 1
            if not line.length:
                del self._lines[session_key]


class Place:
    """A message's place in its session's line, as an asynchronous context manager.

    Entering raises SessionNotFound where the session is being deleted, and what `on_join` raises.

    Attributes:
        answer_id: The identity of its answer; set once that has begun.
    """

    def __init__(self, lines: dict[str, _Line], session_key: str, on_join: Callable[[bool], Awaitable[bool]]) -> None:
        self._lines = lines
        self._key = session_key
        self._on_join = on_join
        self._line: _Line | None = None
        self._is_joining = False
        self.answer_id: str | None = None

    async def __aenter__(self) -> None:
        line = self._line = self._lines.setdefault(self._key, _Line())
        line.length += 1
        try:
            await line.joining.acquire()  # first come, first served; as the turn is
            self._is_joining = True
            if await self._on_join(line.length > 1):
                self.let_next_join()
            await line.turn.acquire()
            if line.closed:
                line.turn.release()
                raise SessionNotFound("", self._key.partition("/")[2])
        except BaseException:
            self._leave(line)
            raise
        line.first = self

    async def __aexit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.first = None
            self._line.turn.release()
            self._leave(self._line)

    def let_next_join(self) -> None:
        """Let the next message join; does nothing the second time."""
        if self._is_joining and self._line is not None:
            self._is_joining = False
            self._line.joining.release()

    def _leave(self, line: _Line) -> None:
        self.let_next_join()
        line.length -= 1
        if not line.length:
            del self._lines[self._key]
