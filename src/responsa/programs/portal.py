"""One background event loop for the blocking drivers' concurrent steps.

Several blocking streams cannot be read at once from one thread, and a blocked read cannot be cancelled from another;
an event loop does both. It is started when first needed, serves the whole process, and ends with it.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Generator, Sequence
from concurrent.futures import Future, wait
from queue import SimpleQueue
from typing import Any, TypeVar

from responsa.schema.calls import LLMCall
from responsa.schema.events import Event
from responsa.schema.protocols import LLM

from .async_driver import call_together
from .effects import Outcome

T = TypeVar("T")

_lock = threading.Lock()
_loop: tuple[int, asyncio.AbstractEventLoop] | None = None


def _submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    global _loop
    with _lock:
        if _loop is None or _loop[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="responsa-portal", daemon=True).start()
            _loop = (os.getpid(), loop)
        return asyncio.run_coroutine_threadsafe(coroutine, _loop[1])


def stream_together(
    calls: Sequence[LLMCall], llm: LLM, number: int, limit: int
) -> Generator[Event, None, list[Outcome]]:
    """Make calls with at most `limit` under way, yield their events as they come, and return the outcomes in order.

    Closing the generator cancels every call under way and waits until they are closed.
    """
    queue: SimpleQueue[Event | None] = SimpleQueue()
    batch = _submit(call_together(calls, llm, number, limit, queue.put))
    batch.add_done_callback(lambda _: queue.put(None))
    try:
        while (event := queue.get()) is not None:
            yield event
        return batch.result()
    finally:
        if batch.cancel() or not batch.done():
            wait([batch], timeout=10)
