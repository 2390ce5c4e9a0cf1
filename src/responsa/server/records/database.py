"""A small database in one file, which several processes share; every change is on the disk when it is told of."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar

from responsa.schema.errors import RecordsUnavailable

from .opened_file import MOVED, OpenedFile

T = TypeVar("T")

_BUSY_SECONDS: Final = 30.0
# Each brings the tables one version further; `PRAGMA user_version` counts those that were applied.
_MIGRATIONS: Final = (
    """
    CREATE TABLE feedback (
        id TEXT PRIMARY KEY, owner TEXT NOT NULL, target TEXT NOT NULL, created REAL NOT NULL, content TEXT NOT NULL,
        UNIQUE (owner, target)
    );
    CREATE INDEX feedback_created ON feedback (created);
    CREATE TABLE documents (
        id TEXT PRIMARY KEY, index_name TEXT NOT NULL, name TEXT NOT NULL, created REAL NOT NULL, content TEXT NOT NULL,
        UNIQUE (index_name, name)
    );
    CREATE TABLE jobs (
        id TEXT PRIMARY KEY, state TEXT NOT NULL, created REAL NOT NULL, content TEXT NOT NULL
    );
    CREATE INDEX jobs_created ON jobs (created);
    """,
)


class Records:
    """Runs steps on the database, each in a transaction of its own and in a thread.

    Args:
        path: The file; made with its directory when it is first used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: OpenedFile | None = None

    async def check(self) -> None:
        """Check that the database can be written to.

        Raises:
            RecordsUnavailable: It cannot.
        """
        await self.run(lambda _: None)

    async def run(self, step: Callable[[sqlite3.Connection], T]) -> T:
        """Make a step, whole or not at all, and return what it returns.

        Raises:
            RecordsUnavailable: The database cannot be read or written.
        """
        return await asyncio.to_thread(self._run, step)

    async def aclose(self) -> None:
        """Close the connection."""
        await asyncio.to_thread(self._close)

    def _run(self, step: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._opened()
                    self._file = OpenedFile(self._path)
                connection = self._connection
                if self._file is None or not self._file.is_there():
                    raise RecordsUnavailable(str(self._path), MOVED)
                connection.execute("BEGIN IMMEDIATE")
                try:
                    result = step(connection)
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")
                return result
            except (sqlite3.Error, OSError) as error:
                raise RecordsUnavailable(str(self._path), str(error)) from error

    def _opened(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            _migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None


def _migrate(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")  # so that two processes that start at once follow one another
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, script in enumerate(_MIGRATIONS[version:], version + 1):
        for statement in filter(str.strip, script.split(";")):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number}")
    connection.execute("COMMIT")
