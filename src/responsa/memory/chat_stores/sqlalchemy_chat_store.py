"""Conversations in a database: SQLite in a file, or PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from .base import BaseChatStore
from .repository import Repository
from .sql_engines import WRITES, Engines, as_chat_store_fault, read_url
from .sql_migrating import migrate
from .sql_repository import SQLRepository

T = TypeVar("T")


class SQLAlchemyChatStore(BaseChatStore):
    """Keeps sessions in a database that several processes may share.

    The tables are made, or brought to this version's form, when the store is first used. The blocking methods use a
    blocking engine and the others an asynchronous one, so neither makes an event loop.

    Args:
        database_uri: The path of an SQLite file, `sqlite:///...`, or `postgresql://...`.

    Raises:
        InvalidOption: It is none of these, or a database in memory.
    """

    def __init__(self, database_uri: str | Path) -> None:
        url = read_url(database_uri)
        self._location = url.render_as_string(hide_password=True)
        self._engines = Engines(url)
        self._ready = False
        self._preparing = Lock()

    @property
    def location(self) -> str:
        """Where the store is, for messages; without a password."""
        return self._location

    def close(self) -> None:
        """Close the connections of the blocking methods."""
        self._engines.close()

    async def aclose(self) -> None:
        """Close the connections of the asynchronous methods in the running event loop, and the others."""
        await self._engines.aclose()
        await asyncio.to_thread(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _do(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        try:
            self._prepare()
            with self._engines.sync().connect() as connection:
                connection.execution_options(**{WRITES: write})
                with connection.begin():
                    return step(SQLRepository(connection, self._location))
        except (SQLAlchemyError, OSError, ModuleNotFoundError) as error:
            raise as_chat_store_fault(error, self._location) from error

    async def _ado(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        def work(connection: Connection) -> T:
            return step(SQLRepository(connection, self._location))

        try:
            if not self._ready:
                await asyncio.to_thread(self._prepare)
            async with (await self._engines.of_loop()).connect() as connection:
                await connection.execution_options(**{WRITES: write})
                async with connection.begin():
                    return await connection.run_sync(work)
        except (SQLAlchemyError, OSError, ModuleNotFoundError) as error:
            raise as_chat_store_fault(error, self._location) from error

    def _prepare(self) -> None:
        """Bring the tables to this version's form, once in a process."""
        if self._ready:
            return
        with self._preparing:
            if not self._ready:
                with self._engines.sync().connect() as connection:
                    connection.execution_options(**{WRITES: True})
                    with connection.begin():
                        migrate(connection, self._location)
                self._ready = True
