"""How often a key may ask: a moving window, counted together by all processes of the service."""

from __future__ import annotations

import asyncio
import math
import os
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from responsa.memory.chat_stores.file_lock import file_lock
from responsa.schema.errors import InvalidOption, LimitsUnavailable, TooManyRequests

UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_NAMES: Final = {seconds: name for name, seconds in UNITS.items()}
_LIMIT: Final = re.compile(r"([1-9]\d{0,8})/(\w+)", re.ASCII)

# The counts of the last moment may be lost when the machine fails, but never when a process does.
_MADE: Final = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = OFF;
    CREATE TABLE IF NOT EXISTS requests (key TEXT NOT NULL, at REAL NOT NULL);
    CREATE INDEX IF NOT EXISTS by_key ON requests (key, at);
    CREATE INDEX IF NOT EXISTS by_time ON requests (at);
"""

# How long a process waits for another one's count, in seconds.
_PATIENCE: Final = 5.0
# No window is longer, whichever key's and whichever process's settings it comes from.
_LONGEST: Final = max(UNITS.values())
# A clock that was set back leaves counts that would hold until it has caught up.
_CLOCK_TOLERANCE: Final = 1.0


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` requests in any `seconds`.

    Args:
        count: The most requests.
        seconds: The length of the window.
    """

    count: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.count}/{_NAMES.get(self.seconds, f'{self.seconds} seconds')}"

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Return the limit written as `120/minute`.

        Raises:
            InvalidOption: It is not written so.
        """
        match = _LIMIT.fullmatch(text.strip())
        if match is None or match[2] not in UNITS:
            raise InvalidOption("limits", text[:40], f"a number, a slash and one of {', '.join(UNITS)}")
        return cls(int(match[1]), UNITS[match[2]])


class RateLimits:
    """Counts requests in a file, which any number of processes share.

    Every request is a row with its time, so that the window moves with each; reading, deciding and writing are one
    transaction, so that no count is lost. A refused request is not counted.

    Args:
        path: The file; made when the first request is counted.
        limits: What keys are held to that have no limits of their own; none counts nothing.
        clock: Returns the seconds since 1970.
    """

    def __init__(self, path: Path, limits: Sequence[Limit], *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._limits = tuple(limits)
        self._clock = clock
        self._connection: sqlite3.Connection | None = None
        # The connection lives in one thread, which may wait for other processes while the loop goes on.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="limits")

    async def take(self, key_id: str, limits: Sequence[Limit] = ()) -> None:
        """Count a request of a key.

        Args:
            key_id: The key.
            limits: What it is held to in place of what all are.

        Raises:
            TooManyRequests: The key has made as many as it may; nothing is counted.
            LimitsUnavailable: The file cannot be used.
        """
        held_to = tuple(limits) or self._limits
        if held_to:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._take, key_id, held_to)

    async def aclose(self) -> None:
        """Close the file."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    def _take(self, key_id: str, limits: Sequence[Limit]) -> None:
        try:
            connection = self._connection = self._connection or self._open()
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                refused = self._count(connection, key_id, limits)
        except (sqlite3.Error, OSError) as error:
            raise LimitsUnavailable(str(self._path), str(error)) from error
        if refused is not None:
            raise refused

    def _count(self, connection: sqlite3.Connection, key_id: str, limits: Sequence[Limit]) -> TooManyRequests | None:
        now = self._clock()
        longest = max(limit.seconds for limit in limits)
        # Of other keys only what no window can hold: theirs may be longer than this one's.
        connection.execute(
            "DELETE FROM requests WHERE (key = ? AND at <= ?) OR at <= ? OR at > ?",
            (key_id, now - longest, now - _LONGEST, now + _CLOCK_TOLERANCE),
        )
        refused = [error for limit in limits if (error := _over(connection, key_id, limit, now)) is not None]
        if refused:
            return max(refused, key=lambda error: error.retry_after)
        connection.execute("INSERT INTO requests VALUES (?, ?)", (key_id, now))
        return None

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None)
        try:
            # SQLite does not wait for its turn to change how it keeps its journal.
            with file_lock(self._path.with_suffix(".lock")):
                connection.executescript(_MADE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _over(connection: sqlite3.Connection, key_id: str, limit: Limit, now: float) -> TooManyRequests | None:
    """Return the refusal of one more request; it is over when the one that fills the window has left it."""
    row = connection.execute(
        "SELECT at FROM requests WHERE key = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?",
        (key_id, now - limit.seconds, limit.count - 1),
    ).fetchone()
    if row is None:
        return None
    return TooManyRequests(limit.count, limit.seconds, max(1, math.ceil(row[0] + limit.seconds - now)))
