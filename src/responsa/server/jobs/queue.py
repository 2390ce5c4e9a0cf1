"""The jobs of this process, one at a time in the order they came: so an index has one writer."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeAlias

from responsa.memory.writers import is_gone, is_of_this_process, new_writer
from responsa.schema.errors import JobNotRunnable, JobsFull

from ..errors import error_body, note
from .job import RUNNABLE, UNENDED, Job, JobState
from .store import JobStore

Report: TypeAlias = Callable[..., None]
"""Told how far a job is, by the names of the job's fields."""
Work: TypeAlias = Callable[[Job, Report], Awaitable[None]]


class Jobs:
    """Takes jobs and does them.

    A job is on the disk before it is told of. What another process left unended is "interrupted" as soon as that
    process is gone, and is done when it is run again.

    Args:
        store: Where they are kept.
        work: Does one.
        max_waiting: The most that may wait.
    """

    def __init__(self, store: JobStore, work: Work, max_waiting: int) -> None:
        self._store = store
        self._work = work
        self._max_waiting = max_waiting
        self._waiting: deque[str] = deque()
        self._here: dict[str, Job] = {}
        self._running: tuple[str, asyncio.Task[None]] | None = None
        self._worker: asyncio.Task[None] | None = None
        self._cancelled: set[str] = set()
        self._saving: set[asyncio.Future[None]] = set()

    def check_room(self) -> None:
        """Check that one more may wait.

        Raises:
            JobsFull: As many wait as may.
        """
        if len(self._waiting) >= self._max_waiting:
            raise JobsFull(len(self._waiting), self._max_waiting)

    async def submit(self, job: Job) -> Job:
        """Take a job; it is on the disk when this returns.

        Raises:
            JobNotRunnable: It waits or runs already.
            JobsFull: As many wait as may.
        """
        if job.id in self._here:
            raise JobNotRunnable(job.id, self._here[job.id].state)
        self.check_room()
        self._here[job.id] = job
        self._waiting.append(job.id)
        try:
            await self._store.put(job)
        except BaseException:
            self._waiting.remove(job.id)
            del self._here[job.id]
            raise
        if self._worker is None or self._worker.done():
            self._worker = asyncio.ensure_future(self._do_all())
        return job

    async def get(self, job_id: str) -> Job:
        """Return a job as it stands.

        Raises:
            JobNotFound: There is none of that identity.
        """
        return self._here.get(job_id) or await self._known(await self._store.get(job_id))

    async def listed(self, limit: int, offset: int) -> list[Job]:
        """Return the jobs of all processes as they stand, newest first."""
        found = await self._store.listed(limit, offset)
        return [self._here.get(job.id) or await self._known(job) for job in found]

    async def cancel(self, job_id: str) -> Job:
        """End a job that waits or runs in this process; what it has stored by then stays.

        Raises:
            JobNotFound: There is none of that identity.
        """
        job = await self.get(job_id)
        if job_id in self._waiting:
            self._waiting.remove(job_id)
            await self._end(job_id, "cancelled")
        elif self._running is not None and self._running[0] == job_id:
            task = self._running[1]
            if job_id not in self._cancelled:  # a second time would break off how its end is stored
                self._cancelled.add(job_id)
                task.cancel()
            await asyncio.wait([task])
            if self._here.get(job_id) is job:  # its task had not begun, and so has not ended it
                self._cancelled.discard(job_id)
                await self._end(job_id, "cancelled")
        elif job.state in UNENDED:
            raise JobNotRunnable(job_id, f"{job.state} in another process")
        return await self.get(job_id)

    async def run_again(self, job_id: str) -> Job:
        """Take a job again that ended without being done.

        Raises:
            JobNotFound: There is none of that identity.
            JobNotRunnable: It is done, or has not ended.
            JobsFull: As many wait as may.
        """
        job = await self.get(job_id)
        if job.state not in RUNNABLE:
            raise JobNotRunnable(job_id, job.state)
        fresh = replace(
            job,
            state="queued",
            worker=new_writer(),
            started=None,
            ended=None,
            files_done=0,
            passages=0,
            embedded=0,
            skipped=(),
            error=None,
        )
        return await self.submit(fresh)

    async def aclose(self) -> None:
        """End what runs; it and what waits are marked as interrupted."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])
        for job_id in list(self._waiting):
            await self._end(job_id, "interrupted")
        self._waiting.clear()
        await asyncio.gather(*self._saving, return_exceptions=True)

    async def _do_all(self) -> None:
        while self._waiting:
            job_id = self._waiting.popleft()
            task = asyncio.ensure_future(self._do(job_id))
            self._running = job_id, task
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                task.cancel()
                await asyncio.wait([task])
                raise
            finally:
                self._running = None

    async def _do(self, job_id: str) -> None:
        """Do a job; whatever ends it is stored with it."""
        job = replace(
            self._here[job_id], state="running", started=time.time(), attempts=self._here[job_id].attempts + 1
        )
        self._here[job_id] = job
        try:
            await self._store.put(job)
            await self._work(job, lambda **fields: self._report(job_id, fields))
        except asyncio.CancelledError:
            # Nobody waits for this task's value: its end is told by the job.
            await self._end(job_id, "cancelled" if job_id in self._cancelled else "interrupted")
        except Exception as error:
            note(error)
            await self._end(job_id, "failed", error=error_body(error))
        else:
            await self._end(job_id, "done")
        finally:
            self._cancelled.discard(job_id)

    def _report(self, job_id: str, fields: dict[str, Any]) -> None:
        job = self._here[job_id] = replace(self._here[job_id], **fields)
        if not self._saving:  # the next report brings what this one leaves out
            saving = asyncio.ensure_future(self._store.put(job))
            self._saving.add(saving)
            saving.add_done_callback(self._saved)

    def _saved(self, saving: asyncio.Future[None]) -> None:
        self._saving.discard(saving)
        if not saving.cancelled() and (error := saving.exception()) is not None:
            note(error if isinstance(error, Exception) else RuntimeError(str(error)))

    async def _end(self, job_id: str, state: JobState, error: dict[str, Any] | None = None) -> None:
        """Store how a job ended; where that fails it is found as interrupted later."""
        try:
            await asyncio.gather(*self._saving, return_exceptions=True)
            await self._store.put(replace(self._here[job_id], state=state, error=error, ended=time.time()))
        except Exception as failure:
            note(failure)
        finally:
            del self._here[job_id]  # only now: what is not here has ended

    async def _known(self, job: Job) -> Job:
        """Return a job that is not this process's; one whose process is gone is interrupted from now on."""
        if job.state not in UNENDED:
            return job
        if not is_of_this_process(job.worker):
            begun = job.started or job.created
            if not await asyncio.to_thread(is_gone, job.worker, begun, time.time()):
                return job
        return await self._store.exchange(job, replace(job, state="interrupted", ended=time.time()))
