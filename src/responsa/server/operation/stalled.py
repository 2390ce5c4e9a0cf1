"""Clients that stop reading: their connections are cut, as if they had hung up."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as HTTPProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as HTTPProtocol

LOG: Final = logging.getLogger("responsa.server")


class StallWatch:
    """Looks, while something waits to be taken, whether any of it is.

    It costs nothing while all is taken at once: its one timer begins when something has to wait, and is moved when it
    fires.

    Args:
        seconds: How long nothing may be taken.
        waiting: Returns how many bytes wait.
        cut: Called once nothing has been taken for that long.
        loop: Whose time it is.
    """

    def __init__(
        self, seconds: float, waiting: Callable[[], int], cut: Callable[[], None], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._seconds = seconds
        self._waiting = waiting
        self._cut = cut
        self._loop = loop
        self._is_on = False
        self._left = 0
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Note that something waits from now on."""
        self._is_on = True
        self._left, self._since = self._waiting(), self._loop.time()
        if self._timer is None:
            self._set_timer()

    def end(self) -> None:
        """Note that nothing waits any more."""
        self._is_on = False

    def close(self) -> None:
        """Look no more."""
        self.end()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        self._timer = self._loop.call_at(self._since + self._seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        if not self._is_on:
            return
        left = self._waiting()
        if left < self._left:
            self._left, self._since = left, self._loop.time()
        elif self._loop.time() - self._since >= self._seconds:
            self._cut()
            return
        self._set_timer()


def watched_connections(seconds: float) -> type[asyncio.Protocol]:
    """Return the class of uvicorn's connections that are cut once their client has taken nothing for `seconds`."""

    class WatchedConnection(HTTPProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            # So that we are told at once of whatever the system does not take.
            transport.set_write_buffer_limits(0)
            self._watch = StallWatch(seconds, lambda: _left_of(transport), self._cut, self.loop)

        def connection_lost(self, exc: Exception | None) -> None:
            self._watch.close()
            super().connection_lost(exc)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._watch.begin()

        def resume_writing(self) -> None:
            super().resume_writing()
            self._watch.end()

        def _cut(self) -> None:
            LOG.info("connection cut: its client reads no more", extra={"fields": {"seconds": seconds}})
            # Closing it would wait until all is sent.
            self.transport.abort()

    return WatchedConnection


def _left_of(transport: asyncio.Transport) -> int:
    """Return how many bytes of a connection the client has not taken, as far as can be told."""
    return transport.get_write_buffer_size() + _left_in(transport.get_extra_info("socket"))


if sys.platform == "linux":
    import fcntl
    import termios

    def _left_in(connection: Any) -> int:
        """Return how many bytes the system holds of what a socket sent: a slow client takes of these first."""
        return int.from_bytes(fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, b"\0" * 4), sys.byteorder)
else:

    def _left_in(connection: Any) -> int:
        return 0
