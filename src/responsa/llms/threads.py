"""Reading a blocking generator without blocking."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any, Final, TypeVar

T = TypeVar("T")

_END: Final = object()


async def in_threads(steps: Generator[T, None, Any]) -> AsyncGenerator[T, None]:
    """Yield what a blocking generator yields; each step is made in a thread, one after another."""
    making: asyncio.Future[Any] | None = None
    try:
        while True:
            making = asyncio.ensure_future(asyncio.to_thread(next, steps, _END))
            step = await asyncio.shield(making)
            if step is _END:
                return
            yield step
    finally:
        # A thread cannot be stopped: a step that is being made must end before its generator can be closed.
        if making is not None:
            await asyncio.wait([making])
        await asyncio.to_thread(steps.close)
