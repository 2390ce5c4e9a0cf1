"""Conversations in this process's memory, and in a file where one is given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Self, TypeVar

from responsa.schema.errors import ChatStoreUnavailable

from .base import BaseChatStore
from .conversations import Conversations
from .journal_file import JournalFile, write_whole
from .recording import Recorder
from .repository import Repository

T = TypeVar("T")


class SimpleChatStore(BaseChatStore):
    """Keeps sessions in memory: no thread, no database; with a path also in a file of JSON lines.

    Several processes may share the file: each sees what the others wrote, and writes one at a time. A change is on
    the disk when its method returns, and a crash at any moment leaves the file whole.

    Args:
        path: The file; made with the first change.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._file = None if path is None else JournalFile(Path(path))
        self._location = "memory" if path is None else str(path)
        self._held = Conversations(self._location)
        self._lock = Lock()

    @property
    def location(self) -> str:
        """Where the store is, for messages."""
        return self._location

    def persist(self, persist_path: str | Path = "chat_store.json") -> None:
        """Write all sessions to a file, in the place of what it held.

        Raises:
            ChatStoreUnavailable: The file cannot be written; what it held is kept.
        """
        with self._lock:
            held = self._held if self._file is None else self._file.read()
            try:
                write_whole(Path(persist_path), held)
            except OSError as error:
                raise ChatStoreUnavailable(str(persist_path), error.strerror or str(error)) from error

    @classmethod
    def from_persist_path(cls, persist_path: str | Path = "chat_store.json") -> Self:
        """Return a store in memory with what a file holds; an empty one if there is none."""
        store = cls()
        store._held = JournalFile(Path(persist_path)).read()
        return store

    def _do(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        with self._lock:
            if self._file is None:
                return step(self._held)
            if not write:
                return step(self._file.read())
            with self._file.writing() as (held, append):
                recorder = Recorder(held)
                result = step(recorder)
                append(recorder.lines, recorder.durable)
                return result

    async def _ado(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        if self._file is None:
            return self._do(step, write=write)
        return await asyncio.to_thread(self._do, step, write=write)
