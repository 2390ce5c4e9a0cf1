"""The end of the service: what streams may finish within a limit, the rest is told that it was interrupted."""

from __future__ import annotations

import asyncio
import signal
import socket
from types import FrameType
from typing import Final

import uvicorn

from ..runs.registry import Runs

# Beyond the limit: time for the last events to be read, in seconds.
LAST_WORDS: Final = 5
# A signal can set a flag and no more; it is looked for as often, in seconds.
_LOOKS_EVERY: Final = 0.1


class DrainingServer(uvicorn.Server):
    """A web server that gives answers under way a time to finish when it is told to end.

    New connections are refused at once, new questions on old ones with the time to come again. A second Ctrl-C ends the
    time.

    Args:
        config: How it serves.
        runs: The answers under way.
        limit: How long they may take, in seconds.
    """

    def __init__(self, config: uvicorn.Config, runs: Runs, limit: float) -> None:
        config.timeout_graceful_shutdown = int(limit) + LAST_WORDS
        super().__init__(config)
        self._runs = runs
        self._limit = limit
        self._is_hurried = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal to end: the first begins the end, a second Ctrl-C hurries it, a third leaves all behind."""
        if self.should_exit and sig == signal.SIGINT and not self._is_hurried:
            self._is_hurried = True
        else:
            super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: connections close as their answers do."""
        draining = asyncio.ensure_future(self._drain())
        try:
            await super().shutdown(sockets)
        finally:
            await draining

    async def _drain(self) -> None:
        draining = asyncio.ensure_future(self._runs.drain(self._limit))
        while not (await asyncio.wait([draining], timeout=_LOOKS_EVERY))[0]:
            if self._is_hurried:
                await self._runs.drain(0)
