"""The sessions of each key, in a chat store that all keys share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from responsa.memory import Memory
from responsa.memory.chat_stores import SQLAlchemyChatStore
from responsa.memory.chat_stores.sql_engines import read_url
from responsa.schema.errors import ChatStoreUnavailable, InvalidOption, InvalidRequest, MessageNotFound, SessionNotFound
from responsa.schema.messages import MessageRole
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import Session, StoredMessage, new_id

from ..records.opened_file import MOVED, OpenedFile
from ..settings import ServerSettings

_KEPT_HERE = "sessions.db"


class Sessions:
    """Sessions by their owner and their identity.

    In the store a session's key begins with its owner's id, so that whoever asks for another's finds none.

    Args:
        settings: Where they are kept.
        store: Where they are kept, in place of what the settings say.
    """

    def __init__(self, settings: ServerSettings, store: ChatStore | None = None) -> None:
        self._settings = settings
        self._store = store
        self._file: OpenedFile | None = None
        self._opening = asyncio.Lock()

    async def store(self) -> ChatStore:
        """Return the chat store, opened when it is first used.

        Raises:
            ChatStoreFault: It cannot be opened, or its file is there no more.
        """
        async with self._opening:
            if self._store is None:
                opened, self._file = await asyncio.to_thread(_opened, self._settings)
                self._store = opened
            store = self._store
        if self._file is not None and not await asyncio.to_thread(self._file.is_there):
            raise ChatStoreUnavailable(store.location, MOVED)
        return store

    async def check(self) -> None:
        """Check that sessions can be read and written.

        Raises:
            ChatStoreFault: They cannot.
        """
        await (await self.store()).adelete_session(key_of("", ""))  # a write, of nothing that there is

    async def create(self, owner: str, title: str) -> Session:
        """Begin a session."""
        return _public(await (await self.store()).acreate_session(key_of(owner, new_id()), title))

    async def listed(self, owner: str, limit: int, offset: int) -> list[Session]:
        """Return an owner's sessions, last written first."""
        found = await (await self.store()).alist_sessions(limit, offset, prefix=key_of(owner, ""))
        return [_public(session) for session in found]

    async def get(self, owner: str, session_id: str) -> Session:
        """Return a session.

        Raises:
            SessionNotFound: The owner has none of that identity.
        """
        session = await (await self.store()).aget_session(key_of(owner, session_id))
        if session is None:
            raise SessionNotFound("", session_id[:64])
        return _public(session)

    async def rename(self, owner: str, session_id: str, title: str) -> Session:
        """Give a session another title; see `get`."""
        with _told_of(session_id):
            return _public(await (await self.store()).arename_session(key_of(owner, session_id), title))

    async def delete(self, owner: str, session_id: str) -> None:
        """Remove a session; see `get`."""
        if not await (await self.store()).adelete_session(key_of(owner, session_id)):
            raise SessionNotFound("", session_id[:64])

    async def fork(self, owner: str, session_id: str, upto: str | None, title: str | None) -> Session:
        """Begin a session with another's messages up to one of them, or with all of them.

        Raises:
            SessionNotFound: The owner has none of that identity.
            MessageNotFound: The session has no such message.
        """
        last = upto
        if last is None:
            messages = await self.messages(owner, session_id)
            if not messages:
                return await self.create(owner, title or "")
            last = messages[-1].id
        with _told_of(session_id):
            key, new = key_of(owner, session_id), key_of(owner, new_id())
            return _public(await (await self.store()).afork_session(key, last, new, title))

    async def messages(self, owner: str, session_id: str) -> list[StoredMessage]:
        """Return a session's messages in order, those that a dead process left marked as interrupted; see `get`."""
        await self.get(owner, session_id)
        return await Memory(key_of(owner, session_id), chat_store=await self.store()).arecover()

    async def message(self, owner: str, session_id: str, message_id: str) -> StoredMessage:
        """Return a message.

        Raises:
            SessionNotFound: The owner has none of that identity.
            MessageNotFound: The session has no such message.
        """
        for message in await self.messages(owner, session_id):
            if message.id == message_id:
                return message
        raise MessageNotFound("", session_id[:64], message_id[:64])

    async def question_and_answer(
        self, owner: str, session_id: str, message_id: str
    ) -> tuple[StoredMessage, StoredMessage]:
        """Return an answer, and before it the user's message that it belongs to.

        Raises:
            SessionNotFound: The owner has none of that identity.
            MessageNotFound: The session has no such message.
            InvalidRequest: The message is not the answer to a user's.
        """
        messages = {message.id: message for message in await self.messages(owner, session_id)}
        answer = messages.get(message_id)
        if answer is None:
            raise MessageNotFound("", session_id[:64], message_id[:64])
        question = messages.get(answer.turn)
        if question is None or answer.role is not MessageRole.ASSISTANT:
            raise InvalidRequest(("message_id: not the answer to a user's message",))
        return question, answer

    async def aclose(self) -> None:
        """Close connections."""
        close = getattr(self._store, "aclose", None)
        if close is not None:
            await close()


def key_of(owner: str, session_id: str) -> str:
    """Return the key of a session in the store."""
    return f"{owner}/{session_id}"


def _public(session: Session) -> Session:
    """Return a session under the identity its owner knows it by."""
    return replace(session, id=session.id.partition("/")[2])


@contextmanager
def _told_of(session_id: str) -> Iterator[None]:
    """Let what is not there be told of by the identity its owner knows it by."""
    try:
        yield
    except SessionNotFound:
        raise SessionNotFound("", session_id[:64]) from None
    except MessageNotFound as error:
        raise MessageNotFound("", session_id[:64], error.message[:64]) from None


def _opened(settings: ServerSettings) -> tuple[ChatStore, OpenedFile | None]:
    """Return the store, its tables made, and its file where it is one."""
    database: str | Path
    if settings.sessions_database is not None:
        database = settings.sessions_database.get_secret_value()
    else:
        database = settings.data_dir.resolve() / _KEPT_HERE
        try:
            settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ChatStoreUnavailable(str(settings.data_dir), error.strerror or str(error)) from error
    try:
        url = read_url(database)
    except InvalidOption as error:  # the operator's, not the client's
        raise ChatStoreUnavailable("sessions_database", str(error)) from None
    store = SQLAlchemyChatStore(database)
    try:
        store.list_sessions(1)
        is_file = url.get_backend_name() == "sqlite"
        return store, OpenedFile(Path(url.database or "")) if is_file else None
    except OSError as error:
        raise ChatStoreUnavailable(store.location, error.strerror or str(error)) from error
    finally:
        store.close()  # the connections of the blocking methods, of which this was the one use
