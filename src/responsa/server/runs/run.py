"""One answer under way: a task of its own that writes events, whoever listens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from typing import Any, Final, Protocol

from responsa.schema.errors import AnswerStopped, ResponsaError, ServiceEnding
from responsa.schema.events import ErrorRaised

from ..compact_json import compact_json
from ..errors import error_body, note
from .admission import Admission, Ticket
from .event_log import TYPED, EventLog, Framing
from .subscription import Subscription


class Writer(Protocol):
    """Turns a run's events into the names and JSON of server-sent events."""

    def write(self, event: Any) -> tuple[str, str] | None:
        """Return an event's name and its JSON in one line; None for one that listeners are not told."""
        ...


DONE: Final = "done"
_OUTCOMES: Final[dict[type[Exception], str]] = {AnswerStopped: "stopped", ServiceEnding: "interrupted"}


class Run:
    """An answer under way.

    It begins when it is made, ends by itself, when it is stopped, or when nobody has listened for the grace time, and
    always with a `done` event, whose JSON is `result`.

    Args:
        run_id: Its identity; not to be guessed.
        owner: The id of the key it belongs to.
        events: Makes the events; closing them stops the model.
        writer: Makes their JSON; the one of the last event is the run's result.
        admission: The queue to wait in for a turn; None where no model is asked.
        language: The language of messages, "en" or "zh".
        grace: How long it goes on without a listener, in seconds.
        max_bytes: The most bytes of events kept.
        after: What it waits for before it joins the queue.
        framing: How its events are written.
        on_failure: Told what it failed with.

    Raises:
        QueueFull: As many questions wait as may.
    """

    def __init__(
        self,
        run_id: str,
        *,
        owner: str,
        events: Callable[[], AsyncGenerator[Any, None]],
        writer: Writer,
        admission: Admission | None,
        language: str,
        grace: float,
        max_bytes: int,
        after: AbstractAsyncContextManager[None] | None = None,
        framing: Framing = TYPED,
        on_failure: Callable[[Exception], None] | None = None,
    ) -> None:
        self.run_id = run_id
        self.owner = owner
        self.log = EventLog(max_bytes, framing)
        self.result: str = ""
        self.error: Exception | None = None
        self.ended_at: float | None = None
        self._events = events
        self._writer = writer
        self._language = language
        self._grace = grace
        self._on_failure = on_failure
        self._stopped_by: ResponsaError = AnswerStopped()
        self._loop = asyncio.get_running_loop()
        self._listening = 0
        self._leaving: asyncio.TimerHandle | None = None
        ticket = admission.take(self._tell_position) if admission is not None and after is None else None
        self.log.append("started", compact_json({"answer_id": run_id}))
        waiting = nullcontext(ticket) if after is None else self._taken(after, admission)
        self._task = self._loop.create_task(self._work(waiting))

    def listen(self, *, after: int = 0, heartbeat: float) -> Subscription:
        """Return a subscription to the events after a number; `attach` and `detach` around it."""
        return Subscription(self.log, after=after, heartbeat=heartbeat)

    def attach(self) -> None:
        """Note that one more listens."""
        self._listening += 1
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None

    def detach(self) -> None:
        """Note that one listens no longer; after the last one the run goes on for the grace time."""
        self._listening -= 1
        if self._listening == 0 and self.ended_at is None:
            if self._grace > 0:
                self._leaving = self._loop.call_later(self._grace, self._task.cancel)
            else:
                self._task.cancel()

    async def wait(self) -> None:
        """Wait for the end, whatever it is."""
        await asyncio.wait([self._task])

    async def stop(self, reason: ResponsaError | None = None) -> None:
        """Stop it, and wait until the model has been told.

        Args:
            reason: The error it ends with; that it was stopped when left out.
        """
        self._stopped_by = reason or self._stopped_by
        self._task.cancel()
        await self.wait()

    def _tell_position(self, position: int) -> None:
        self.log.append("queued", compact_json({"position": position}))

    @asynccontextmanager
    async def _taken(
        self, after: AbstractAsyncContextManager[None], admission: Admission | None
    ) -> AsyncIterator[Ticket | None]:
        """Join the queue only after what is to be waited for, so that nobody holds a slot meanwhile."""
        async with after:
            yield admission.take(self._tell_position) if admission is not None else None

    async def _work(self, waiting: AbstractAsyncContextManager[Ticket | None]) -> None:
        try:
            async with waiting as ticket, ticket if ticket is not None else nullcontext():
                await self._write()
            if not self.result:
                raise RuntimeError("the events ended without a result")
        except asyncio.CancelledError:
            # Nobody waits for this task's value: its end is told in its events.
            self._fail(self._stopped_by)
        except Exception as error:
            note(error)
            self._fail(error)
        finally:
            self.ended_at = time.monotonic()
            if self._leaving is not None:
                self._leaving.cancel()
            self.log.end()

    async def _write(self) -> None:
        append, write = self.log.append, self._writer.write
        async with aclosing(self._events()) as events:
            async for event in events:
                written = None if isinstance(event, ErrorRaised) else write(event)
                if written is not None:
                    name, data = written
                    if name == DONE:
                        self.result = data
                    append(name, data)

    def _fail(self, error: Exception) -> None:
        """End with the error; what came before stays, and an end that was written already is the end."""
        if self.result:
            return
        self.error = error
        body = error_body(error, self._language)
        self.log.append("error", compact_json({"error": body}))
        if self._on_failure is not None:
            self._on_failure(error)
        outcome = _OUTCOMES.get(type(error), "failed")
        self.result = compact_json({"answer_id": self.run_id, "outcome": outcome, "error": body})
        self.log.append(DONE, self.result)
