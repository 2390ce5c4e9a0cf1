"""All runs of the process: found again by their identity, kept a while after their end."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from responsa.schema.errors import AnswerNotFound, ServiceEnding

from ..settings import ServerSettings
from .admission import Admission
from .event_log import TYPED, Framing
from .run import Run, Writer


class Runs:
    """The runs of the process.

    Args:
        settings: How long and how many are kept, and what each may use.
        admission: The queue in front of the model.
        on_failure: Told what each failed with.
    """

    def __init__(
        self,
        settings: ServerSettings,
        admission: Admission,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> None:
        self._settings = settings
        self._runs: dict[str, Run] = {}
        self._on_failure = on_failure
        self._is_ending = False
        self.admission = admission

    @property
    def active(self) -> int:
        """How many have not ended."""
        return sum(run.ended_at is None for run in self._runs.values())

    def all(self) -> list[Run]:
        """Return all that are kept, oldest first."""
        return list(self._runs.values())

    def start(
        self,
        events: Callable[[], AsyncGenerator[Any, None]],
        make_writer: Callable[[str], Writer],
        *,
        owner: str,
        language: str,
        asks_model: bool,
        after: AbstractAsyncContextManager[None] | None = None,
        framing: Framing = TYPED,
        grace: float | None = None,
    ) -> Run:
        """Begin a run.

        Args:
            events: Makes its events.
            make_writer: Makes what writes them, from the run's identity.
            owner: The id of the key it belongs to.
            language: The language of its messages.
            asks_model: Whether it needs a turn.
            after: What it waits for before it joins the queue.
            framing: How its events are written.
            grace: How long it goes on without a listener, in seconds; as the settings say when left out.

        Raises:
            QueueFull: As many questions wait as may.
            ServiceEnding: The service is being ended.
        """
        if self._is_ending:
            raise ServiceEnding
        self._forget()
        run_id = secrets.token_urlsafe(12)
        run = Run(
            run_id,
            owner=owner,
            events=events,
            writer=make_writer(run_id),
            admission=self.admission if asks_model else None,
            language=language,
            grace=self._settings.grace_seconds if grace is None else grace,
            max_bytes=self._settings.max_event_bytes,
            after=after,
            framing=framing,
            on_failure=self._on_failure,
        )
        self._runs[run_id] = run
        return run

    def get(self, run_id: str, owner: str) -> Run:
        """Return a run of that owner.

        Raises:
            AnswerNotFound: There is none, or it is kept no longer, or it is another's.
        """
        self._forget()
        run = self._runs.get(run_id)
        if run is None or run.owner != owner:
            raise AnswerNotFound(run_id[:64])
        return run

    async def aclose(self) -> None:
        """Stop all runs and wait for their ends."""
        await self.drain(0)
        self._runs.clear()

    async def drain(self, limit: float) -> None:
        """Begin no more runs, give those under way `limit` seconds to end, and stop the others."""
        self._is_ending = True
        under_way = [run for run in self._runs.values() if run.ended_at is None]
        if under_way and limit > 0:
            await asyncio.wait([asyncio.ensure_future(run.wait()) for run in under_way], timeout=limit)
        await asyncio.gather(*(run.stop(ServiceEnding()) for run in under_way if run.ended_at is None))

    def _forget(self) -> None:
        """Give up runs that ended too long ago, and the oldest of those that ended where there are too many."""
        oldest = time.monotonic() - self._settings.keep_seconds
        excess = len(self._runs) - self._settings.max_answers + 1
        for run_id, run in list(self._runs.items()):
            if run.ended_at is not None and (excess > 0 or run.ended_at < oldest):
                del self._runs[run_id]
                excess -= 1
