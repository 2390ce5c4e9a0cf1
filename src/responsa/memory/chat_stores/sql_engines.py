"""Engines for the databases that hold conversations, a blocking one and an asynchronous one for each event loop."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from responsa.http.per_loop import PerLoop
from responsa.schema.errors import ChatStoreDamaged, ChatStoreUnavailable, InvalidOption, MissingExtra, ResponsaError

WRITES: Final = "responsa_writes"  # the execution option of a transaction that changes something
BUSY_SECONDS: Final = 30  # how long a write waits for others' writes
_DRIVERS: Final = {"sqlite": ("sqlite", "sqlite+aiosqlite"), "postgresql": ("postgresql+psycopg",) * 2}
_DAMAGED: Final = ("not a database", "malformed")


def read_url(database: str | Path) -> URL:
    """Return the address of a database, given so or as the path of an SQLite file.

    Raises:
        InvalidOption: It is neither, or a database in memory, which two engines cannot share.
    """
    text = str(database)
    try:
        url = make_url(text) if "://" in text else URL.create("sqlite", database=text)
        kind = url.get_backend_name()
    except (ArgumentError, ValueError):
        raise InvalidOption("database_uri", "this text", "the address of a database, or a file's path") from None
    if kind not in _DRIVERS:
        raise InvalidOption("database_uri", kind, "a file's path, sqlite:///..., or postgresql://...")
    if kind == "sqlite" and (url.database or ":memory:").startswith((":memory:", "file:")):
        raise InvalidOption("database_uri", text, "a file; SimpleChatStore() keeps conversations in memory")
    return url


class Engines:
    """Makes engines when they are needed, and closes them.

    Args:
        url: The database's address.
    """

    def __init__(self, url: URL) -> None:
        self._kind = url.get_backend_name()
        self._sync_url, self._async_url = (url.set(drivername=driver) for driver in _DRIVERS[self._kind])
        self._options: dict[str, Any] = {} if self._kind == "sqlite" else {"pool_pre_ping": True}
        self._lock = Lock()
        self._sync: tuple[int, Engine] | None = None
        self._asyncs: PerLoop[AsyncEngine] = PerLoop(self._make_async, AsyncEngine.dispose)

    def sync(self) -> Engine:
        """Return the blocking engine of this process; connections do not survive a fork."""
        with self._lock:
            if self._sync is None or self._sync[0] != os.getpid():
                engine = create_engine(self._sync_url, **self._options)
                self._prepare(engine)
                self._sync = (os.getpid(), engine)
            return self._sync[1]

    async def of_loop(self) -> AsyncEngine:
        """Return the asynchronous engine of the running event loop."""
        return await self._asyncs.get()

    def close(self) -> None:
        """Close the blocking connections."""
        with self._lock:
            if self._sync is not None:
                self._sync[1].dispose(close=self._sync[0] == os.getpid())
                self._sync = None

    async def aclose(self) -> None:
        """Close the running loop's connections."""
        await self._asyncs.aclose()

    def _make_async(self) -> AsyncEngine:
        engine = create_async_engine(self._async_url, **self._options)
        self._prepare(engine.sync_engine)
        return engine

    def _prepare(self, engine: Engine) -> None:
        if self._kind == "sqlite":
            event.listen(engine, "do_connect", _make_private)
            event.listen(engine, "connect", _open_sqlite)
            event.listen(engine, "begin", _begin_sqlite)


def _make_private(_dialect: object, _record: object, arguments: Any, _options: object) -> None:
    """Make a new file its owner's alone; SQLite would let everybody read it."""
    with suppress(OSError):  # what cannot be made cannot be opened either: the driver says why
        os.close(os.open(arguments[0], os.O_RDWR | os.O_CREAT, 0o600))


def _open_sqlite(connection: Any, _: object) -> None:
    """Let readers and one writer work at once, wait for other writers, and be on the disk after each commit."""
    connection.isolation_level = None  # transactions are begun below, not where the driver thinks
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {BUSY_SECONDS * 1000}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer that begins as a reader fails where another wrote meanwhile, instead of waiting.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITES) else "BEGIN")


def as_chat_store_fault(error: Exception, location: str) -> ResponsaError:
    """Return what a failure of the database is to the user of the store."""
    if isinstance(error, ModuleNotFoundError):
        return MissingExtra("the chat store in a database", "chat")
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    reason = " ".join(str(cause).split()) or type(cause).__name__
    if isinstance(cause, sqlite3.DatabaseError) and any(sign in reason for sign in _DAMAGED):
        return ChatStoreDamaged(location, reason)
    if isinstance(error, PoolTimeout):
        reason = "all connections are in use"
    return ChatStoreUnavailable(location, reason)
