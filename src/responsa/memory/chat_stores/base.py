"""The methods of every chat store, written once over the steps of its back end."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from responsa.schema.messages import ChatMessage
from responsa.schema.stored import MessageStatus, Session, SessionState, StoredMessage, as_stored, new_id

from .repository import Repository

T = TypeVar("T")


class BaseChatStore(ABC):
    """A `ChatStore` whose subclass says how one step is made on its `Repository`, blocking and not.

    What each method does, `responsa.schema.protocols.ChatStore` says.
    """

    @property
    @abstractmethod
    def location(self) -> str:
        """Where the store is, for messages."""

    @abstractmethod
    def _do(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        """Make one step, whole or not at all."""

    @abstractmethod
    async def _ado(self, step: Callable[[Repository], T], *, write: bool = True) -> T:
        """Make one step without blocking."""

    def create_session(self, session_id: str | None = None, title: str = "") -> Session:
        return self._do(_create(session_id, title))

    async def acreate_session(self, session_id: str | None = None, title: str = "") -> Session:
        return await self._ado(_create(session_id, title))

    def list_sessions(self, limit: int | None = None, offset: int = 0, *, prefix: str = "") -> list[Session]:
        return self._do(lambda held: held.listed(limit, offset, prefix), write=False)

    async def alist_sessions(self, limit: int | None = None, offset: int = 0, *, prefix: str = "") -> list[Session]:
        return await self._ado(lambda held: held.listed(limit, offset, prefix), write=False)

    def get_session(self, session_id: str) -> Session | None:
        return self._do(lambda held: held.found(session_id), write=False)

    async def aget_session(self, session_id: str) -> Session | None:
        return await self._ado(lambda held: held.found(session_id), write=False)

    def rename_session(self, session_id: str, title: str) -> Session:
        return self._do(lambda held: held.rename(time.time(), session_id, title))

    async def arename_session(self, session_id: str, title: str) -> Session:
        return await self._ado(lambda held: held.rename(time.time(), session_id, title))

    def delete_session(self, session_id: str) -> bool:
        return self._do(lambda held: held.delete(session_id))

    async def adelete_session(self, session_id: str) -> bool:
        return await self._ado(lambda held: held.delete(session_id))

    def fork_session(
        self, session_id: str, upto_message_id: str, new_session_id: str | None = None, title: str | None = None
    ) -> Session:
        return self._do(_fork(session_id, upto_message_id, new_session_id, title))

    async def afork_session(
        self, session_id: str, upto_message_id: str, new_session_id: str | None = None, title: str | None = None
    ) -> Session:
        return await self._ado(_fork(session_id, upto_message_id, new_session_id, title))

    def add_message(self, session_id: str, message: ChatMessage | StoredMessage) -> str:
        return self.add_messages(session_id, (message,))[0]

    async def aadd_message(self, session_id: str, message: ChatMessage | StoredMessage) -> str:
        return (await self.aadd_messages(session_id, (message,)))[0]

    def add_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> list[str]:
        stored = [as_stored(message) for message in messages]
        self._do(lambda held: held.add(time.time(), session_id, stored))
        return [message.id for message in stored]

    async def aadd_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> list[str]:
        stored = [as_stored(message) for message in messages]
        await self._ado(lambda held: held.add(time.time(), session_id, stored))
        return [message.id for message in stored]

    def replace_message(
        self, session_id: str, message: StoredMessage, *, expected: MessageStatus | None = None
    ) -> bool:
        return self._do(lambda held: held.replace(time.time(), session_id, message, expected))

    async def areplace_message(
        self, session_id: str, message: StoredMessage, *, expected: MessageStatus | None = None
    ) -> bool:
        return await self._ado(lambda held: held.replace(time.time(), session_id, message, expected))

    def list_messages(self, session_id: str) -> list[StoredMessage]:
        return self._do(lambda held: held.messages(session_id), write=False)

    async def alist_messages(self, session_id: str) -> list[StoredMessage]:
        return await self._ado(lambda held: held.messages(session_id), write=False)

    def get_messages(self, session_id: str) -> list[ChatMessage]:
        """Return a session's messages alone, in order."""
        return [stored.message for stored in self.list_messages(session_id)]

    async def aget_messages(self, session_id: str) -> list[ChatMessage]:
        """Return a session's messages alone, in order."""
        return [stored.message for stored in await self.alist_messages(session_id)]

    def set_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> None:
        stored = [as_stored(message) for message in messages]
        self._do(lambda held: held.set(time.time(), session_id, stored))

    async def aset_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> None:
        stored = [as_stored(message) for message in messages]
        await self._ado(lambda held: held.set(time.time(), session_id, stored))

    def delete_messages(self, session_id: str) -> None:
        self._do(_clear(session_id))

    async def adelete_messages(self, session_id: str) -> None:
        await self._ado(_clear(session_id))

    def truncate_after(self, session_id: str, message_id: str, *, including: bool = False) -> int:
        return self._do(lambda held: held.truncate(time.time(), session_id, message_id, including))

    async def atruncate_after(self, session_id: str, message_id: str, *, including: bool = False) -> int:
        return await self._ado(lambda held: held.truncate(time.time(), session_id, message_id, including))

    def get_states(self, session_id: str) -> dict[str, SessionState]:
        return self._do(lambda held: held.states(session_id), write=False)

    async def aget_states(self, session_id: str) -> dict[str, SessionState]:
        return await self._ado(lambda held: held.states(session_id), write=False)

    def set_state(self, session_id: str, name: str, value: Any, *, expected_version: int) -> bool:
        return self._do(lambda held: held.set_state(time.time(), session_id, name, value, expected_version))

    async def aset_state(self, session_id: str, name: str, value: Any, *, expected_version: int) -> bool:
        return await self._ado(lambda held: held.set_state(time.time(), session_id, name, value, expected_version))


def _create(session_id: str | None, title: str) -> Callable[[Repository], Session]:
    key = new_id() if session_id is None else session_id
    return lambda held: held.create(time.time(), key, title)


def _fork(
    session_id: str, upto_message_id: str, new_session_id: str | None, title: str | None
) -> Callable[[Repository], Session]:
    key = new_id() if new_session_id is None else new_session_id
    return lambda held: held.fork(time.time(), session_id, upto_message_id, key, title)


def _clear(session_id: str) -> Callable[[Repository], None]:
    return lambda held: held.set(time.time(), session_id, ()) if held.found(session_id) is not None else None
