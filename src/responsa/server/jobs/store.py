"""Jobs on the disk."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from typing import Any

from responsa.schema.errors import JobNotFound

from ..records.database import Records
from .job import Job


class JobStore:
    """The jobs of all processes.

    Args:
        records: Where they are kept.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    async def put(self, job: Job) -> None:
        """Store a job in place of what is stored of it."""
        await self._records.run(lambda connection: _write(connection, job))

    async def exchange(self, seen: Job, job: Job) -> Job:
        """Store a job if it is still as it was seen; return it as it is stored now."""

        def step(connection: sqlite3.Connection) -> Job:
            row = connection.execute("SELECT content FROM jobs WHERE id = ?", (seen.id,)).fetchone()
            stored = _job(json.loads(row[0])) if row else seen
            if stored != seen:
                return stored
            _write(connection, job)
            return job

        return await self._records.run(step)

    async def get(self, job_id: str) -> Job:
        """Return a job.

        Raises:
            JobNotFound: There is none of that identity.
        """
        rows = await self._rows("SELECT content FROM jobs WHERE id = ?", (job_id,))
        if not rows:
            raise JobNotFound(job_id[:64])
        return rows[0]

    async def listed(self, limit: int, offset: int) -> list[Job]:
        """Return the jobs, newest first."""
        query = "SELECT content FROM jobs ORDER BY created DESC, id LIMIT ? OFFSET ?"
        return await self._rows(query, (limit, offset))

    async def _rows(self, query: str, values: tuple[Any, ...]) -> list[Job]:
        def step(connection: sqlite3.Connection) -> list[Any]:
            return connection.execute(query, values).fetchall()

        return [_job(json.loads(text)) for (text,) in await self._records.run(step)]


def _write(connection: sqlite3.Connection, job: Job) -> None:
    connection.execute(
        "INSERT INTO jobs (id, state, created, content) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET state = excluded.state, content = excluded.content",
        (job.id, job.state, job.created, json.dumps(asdict(job))),
    )


def _job(values: dict[str, Any]) -> Job:
    return Job(**{**values, "documents": tuple(values["documents"]), "skipped": tuple(values["skipped"])})
