"""The end of the service: what streams may finish within a limit, the rest is told that it was interrupted."""

from __future__ import annotations

import asyncio
import socket
from typing import Final

import uvicorn

from ..runs.registry import Runs

# Beyond the limit: time for the last events to be read, in seconds.
LAST_WORDS: Final = 5


class DrainingServer(uvicorn.Server):
    """A web server that gives answers under way a time to finish when it is told to end.

    New connections are refused at once, new questions on old ones with the time to come again.

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

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: connections close as their answers do."""
        draining = asyncio.ensure_future(self._runs.drain(self._limit))
        try:
            await super().shutdown(sockets)
        finally:
            await draining
