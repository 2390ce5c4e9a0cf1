"""Taking a store's lock from an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager


@asynccontextmanager
async def held(lock: AbstractContextManager[None]) -> AsyncIterator[None]:
    """Hold a lock that is taken in a thread, since taking it touches the disk.

    A caller that is cancelled meanwhile leaves no lock behind.
    """
    taking = asyncio.ensure_future(asyncio.to_thread(lock.__enter__))
    try:
        await asyncio.shield(taking)
    except asyncio.CancelledError:
        taking.add_done_callback(lambda done: _release_if_taken(lock, done))
        raise
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def _release_if_taken(lock: AbstractContextManager[None], taking: asyncio.Future[None]) -> None:
    if not taking.cancelled() and taking.exception() is None:
        lock.__exit__(None, None, None)
