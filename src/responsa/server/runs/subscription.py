"""One listener of a run: a place in its event log, and a heartbeat while nothing happens."""

from __future__ import annotations

import asyncio
from typing import Final

from .event_log import EventLog

HEARTBEAT: Final = b": heartbeat\n\n"


class Subscription:
    """Reads an event log from a place on.

    Args:
        log: The log.
        after: The number of the last event the listener has.
        heartbeat: The longest silence, in seconds.
    """

    __slots__ = ("_beat_due", "_closed", "_heartbeat", "_log", "_loop", "_number", "_sent_at", "_timer", "_waiting")

    def __init__(self, log: EventLog, *, after: int, heartbeat: float) -> None:
        self._log = log
        self._number = min(after, log.last)
        self._heartbeat = heartbeat
        self._loop = asyncio.get_running_loop()
        self._sent_at = self._loop.time()
        self._waiting: asyncio.Future[None] | None = None
        self._beat_due = False
        self._closed = False
        self._timer = self._loop.call_later(heartbeat, self._tick)
        log.listeners.add(self)

    async def next(self) -> bytes | None:
        """Return the next events, or a heartbeat after a silence; None after the last event, or when closed."""
        while not self._closed:
            piece, self._number = self._log.after(self._number)
            if not piece and self._beat_due:
                piece = HEARTBEAT
            if piece:
                self._beat_due = False
                self._sent_at = self._loop.time()
                return piece
            if self._log.ended:
                return None
            self._waiting = self._loop.create_future()
            await self._waiting
        return None

    def wake(self) -> None:
        """Let `next` look again."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def close(self) -> None:
        """Stop listening; `next` returns None."""
        self._closed = True
        self._timer.cancel()
        self._log.listeners.discard(self)
        self.wake()

    def _tick(self) -> None:
        """Send a heartbeat if it is time, and look again when it may be; one timer serves any number of events."""
        due = self._sent_at + self._heartbeat - self._loop.time()
        if due <= 0:
            self._beat_due = True
            self.wake()
            due = self._heartbeat
        self._timer = self._loop.call_later(due, self._tick)
