"""One value for each event loop, closed with its loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes a value the first time each event loop asks for it, and closes it when that loop shuts down.

    A connection belongs to the loop that opened it. The loop closes its asynchronous generators before it ends
    (`asyncio.run` sees to that), so a suspended generator that owns the value is told in time.

    Args:
        make: Makes the value, inside the running loop.
        close: Closes it.
    """

    def __init__(self, make: Callable[[], T], close: Callable[[T], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._values: dict[asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[T, None]]] = {}

    async def get(self) -> T:
        """Return the running loop's value."""
        loop = asyncio.get_running_loop()
        kept = self._values.get(loop)
        if kept is not None:
            return kept[0]
        for other in [other for other in list(self._values) if other.is_closed()]:
            self._values.pop(other, None)
        value = self._make()
        owner = _own(value, self._close, lambda: self._values.pop(loop, None))
        # Reaching the yield takes no turn of the loop: two tasks cannot both get here.
        self._values[loop] = (value, owner)
        await anext(owner)
        return value

    async def aclose(self) -> None:
        """Close the running loop's value."""
        kept = self._values.get(asyncio.get_running_loop())
        if kept is not None:
            await kept[1].aclose()


async def _own(
    value: T, close: Callable[[T], Awaitable[None]], forget: Callable[[], object]
) -> AsyncGenerator[T, None]:
    try:
        yield value
    finally:
        forget()
        await close(value)
