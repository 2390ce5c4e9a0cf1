"""Conversations in this process's memory."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

from .base import BaseChatStore
from .conversations import Conversations
from .repository import Repository

T = TypeVar("T")


class SimpleChatStore(BaseChatStore):
    """Keeps sessions in memory: no thread, no file, no database."""

    __slots__ = ("_held", "_lock")

    def __init__(self) -> None:
        self._held = Conversations(self.location)
        self._lock = Lock()

    @property
    def location(self) -> str:
        """Where the store is, for messages."""
        return "memory"

    def _do(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        with self._lock:
            return step(self._held)

    async def _ado(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        return self._do(step, write=write)
