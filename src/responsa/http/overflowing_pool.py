"""Connections to one server in pools that stay small.

The library's pool looks at every connection whenever a request begins or ends: with a thousand streams that is a
millisecond for each.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

import httpcore2

FULL: Final = 64
"""The connections of a pool beyond which the next one is used."""


class OverflowingPool:
    """Sends each request through the first of its pools that is not full.

    Args:
        make: Makes a pool that keeps so many idle connections.
        idle: How many the first one keeps; the others keep none.
    """

    def __init__(self, make: Callable[[int | None], httpcore2.AsyncConnectionPool], *, idle: int | None) -> None:
        self._make = make
        self._pools = [make(idle)]

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        for pool in self._pools:
            if len(pool.connections) < FULL:
                return await pool.handle_async_request(request)
        self._pools.append(self._make(0))
        return await self._pools[-1].handle_async_request(request)

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in self._pools:
            await pool.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
