"""A run has one end, whatever happens after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from responsa.server.runs.run import Run


class Writer:
    def write(self, event: Any) -> tuple[str, str]:
        return event, '"whole"'


def test_a_run_that_is_stopped_while_it_closes_has_ended_well() -> None:
    async def scene() -> None:
        closing = asyncio.Event()

        async def events() -> AsyncGenerator[str, None]:
            try:
                yield "done"
            finally:
                closing.set()
                await asyncio.sleep(3600)

        run = Run(
            "a",
            owner="",
            events=events,
            writer=Writer(),
            admission=None,
            language="en",
            grace=15,
            max_bytes=10_000,
        )
        await closing.wait()
        await run.stop()
        assert (run.result, run.error, run.log.last) == ('"whole"', None, 2)

    asyncio.run(scene())


def test_events_that_end_without_a_result_are_a_failure() -> None:
    async def scene() -> None:
        async def events() -> AsyncGenerator[str, None]:
            yield "text_delta"

        run = Run(
            "a",
            owner="",
            events=events,
            writer=Writer(),
            admission=None,
            language="en",
            grace=15,
            max_bytes=10_000,
        )
        await run.wait()
        assert isinstance(run.error, RuntimeError)
        assert '"internal_error"' in run.result

    asyncio.run(scene())
