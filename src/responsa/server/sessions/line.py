"""One message of a session at a time, in the order they came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from responsa.schema.errors import SessionBusy, SessionNotFound

# Messages of one session that may wait behind the one being answered.
MOST_WAITING: Final = 8


@dataclass(slots=True)
class _Line:
    """Those of one session: the one being answered, and those behind it."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0
    first: Place | None = None
    closed: bool = False


class Lines:
    """Who waits for whom, by session."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    def join(self, session_key: str) -> Place:
        """Return the place behind all that have come so far; entering it waits for them.

        Raises:
            SessionBusy: As many wait as may.
        """
        line = self._lines.get(session_key)
        if line is not None and line.length > MOST_WAITING:
            raise SessionBusy(line.length)
        return Place(self._lines, session_key)

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

    Entering raises SessionNotFound where the session is being deleted.

    Attributes:
        answer_id: The identity of its answer; set once that has begun.
    """

    def __init__(self, lines: dict[str, _Line], session_key: str) -> None:
        self._lines = lines
        self._key = session_key
        self._line: _Line | None = None
        self.answer_id: str | None = None

    async def __aenter__(self) -> None:
        line = self._line = self._lines.setdefault(self._key, _Line())
        line.length += 1
        try:
            await line.turn.acquire()  # first come, first served
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

    def _leave(self, line: _Line) -> None:
        line.length -= 1
        if not line.length:
            del self._lines[self._key]
