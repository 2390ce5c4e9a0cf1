"""Sessions and their messages as plain data, and every change a store makes to them. No I/O, no lock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from responsa.schema.errors import InvalidOption, MessageNotFound, SessionNotFound
from responsa.schema.stored import MessageStatus, Session, SessionState, StoredMessage, title_of


@dataclass(slots=True)
class Conversation:
    """One session with all that belongs to it."""

    session: Session
    messages: list[StoredMessage] = field(default_factory=list)
    states: dict[str, SessionState] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)


class Conversations:
    """All sessions of a store. `now` is the time of a change, in seconds since 1970 (UTC).

    Args:
        location: Where they are kept, for messages.
    """

    __slots__ = ("_location", "sessions")

    def __init__(self, location: str) -> None:
        self._location = location
        self.sessions: dict[str, Conversation] = {}

    def create(self, now: float, session_id: str, title: str) -> Session:
        """Begin a session, or return the one that is there."""
        return self._begun(now, session_id, title).session

    def _begun(self, now: float, session_id: str, title: str = "") -> Conversation:
        if session_id not in self.sessions:
            self.sessions[session_id] = Conversation(Session(session_id, title, now, now))
        return self.sessions[session_id]

    def restore(self, session: Session, messages: Sequence[StoredMessage], states: dict[str, SessionState]) -> None:
        """Take in a session as it was."""
        ids = {message.id for message in messages}
        self.sessions[session.id] = Conversation(session, list(messages), dict(states), ids)

    def listed(self, limit: int | None, offset: int, prefix: str) -> list[Session]:
        """Return the sessions whose key begins with `prefix`, last written first."""
        among = (one.session for key, one in self.sessions.items() if key.startswith(prefix))
        found = sorted(among, key=lambda one: (-one.updated, one.id))
        return found[offset : None if limit is None else offset + limit]

    def found(self, session_id: str) -> Session | None:
        """Return a session, or None."""
        conversation = self.sessions.get(session_id)
        return None if conversation is None else conversation.session

    def messages(self, session_id: str) -> list[StoredMessage]:
        """Return a session's messages in order."""
        conversation = self.sessions.get(session_id)
        return [] if conversation is None else list(conversation.messages)

    def states(self, session_id: str) -> dict[str, SessionState]:
        """Return a session's states by name."""
        conversation = self.sessions.get(session_id)
        return {} if conversation is None else dict(conversation.states)

    def rename(self, now: float, session_id: str, title: str) -> Session:
        """Give a session another title."""
        conversation = self._needed(session_id)
        conversation.session = replace(conversation.session, title=title, updated=now)
        return conversation.session

    def delete(self, session_id: str) -> bool:
        """Remove a session."""
        return self.sessions.pop(session_id, None) is not None

    def fork(self, now: float, session_id: str, upto: str, new_id: str, title: str | None) -> Session:
        """Begin a session with another's messages up to one of them."""
        origin = self._needed(session_id)
        end = self._position(origin, upto) + 1
        if new_id in self.sessions:
            raise InvalidOption("new_session_id", new_id, "the key of no session yet")
        session = Session(new_id, origin.session.title if title is None else title, now, now)
        # Nobody goes on writing to the copy of a message that is being written.
        copies = [as_interrupted(one, "forked") if one.status == "partial" else one for one in origin.messages[:end]]
        self.restore(session, copies, origin.states)
        return session

    def add(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        """Add messages, each behind its turn."""
        check_new([message.id for message in messages], self._ids(session_id))
        self._append(now, self._begun(now, session_id), messages)

    def _append(self, now: float, conversation: Conversation, messages: Sequence[StoredMessage]) -> None:
        for message in messages:
            position = _place(conversation.messages, message.turn)
            if position is not None:
                conversation.messages.insert(position, message)
            else:
                conversation.messages.append(replace(message, turn="") if message.turn else message)
            conversation.ids.add(message.id)
        title = conversation.session.title or next(filter(None, map(title_of, messages)), "")
        conversation.session = replace(conversation.session, title=title, updated=now)

    def replace(self, now: float, session_id: str, message: StoredMessage, expected: MessageStatus | None) -> bool:
        """Put a message in the place of the one with its identity."""
        conversation = self.sessions.get(session_id)
        if conversation is None:
            return False
        for position in range(len(conversation.messages) - 1, -1, -1):
            present = conversation.messages[position]
            if present.id == message.id:
                if expected is not None and present.status != expected:
                    return False
                conversation.messages[position] = replace(message, turn=present.turn)
                conversation.session = replace(conversation.session, updated=now)
                return True
        return False

    def set(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        """Put messages in the place of all that the session holds."""
        check_new([message.id for message in messages])
        conversation = self.sessions[session_id] = Conversation(self._begun(now, session_id).session)
        self._append(now, conversation, messages)

    def truncate(self, now: float, session_id: str, message_id: str, including: bool) -> int:
        """Remove what follows a message."""
        conversation = self._needed(session_id)
        end = self._position(conversation, message_id) + (not including)
        removed = len(conversation.messages) - end
        conversation.ids.difference_update(message.id for message in conversation.messages[end:])
        del conversation.messages[end:]
        conversation.session = replace(conversation.session, updated=now)
        return removed

    def set_state(self, now: float, session_id: str, name: str, value: Any, expected_version: int) -> bool:
        """Keep a value with a session if its version is the expected one."""
        if self.states(session_id).get(name, SessionState()).version != expected_version:
            return False
        self._begun(now, session_id).states[name] = SessionState(value, expected_version + 1)
        return True

    def _ids(self, session_id: str) -> Collection[str]:
        return self.sessions[session_id].ids if session_id in self.sessions else ()

    def _needed(self, session_id: str) -> Conversation:
        if session_id not in self.sessions:
            raise SessionNotFound(self._location, session_id)
        return self.sessions[session_id]

    def _position(self, conversation: Conversation, message_id: str) -> int:
        for position, message in enumerate(conversation.messages):
            if message.id == message_id:
                return position
        raise MessageNotFound(self._location, conversation.session.id, message_id)


def as_interrupted(message: StoredMessage, reason: str) -> StoredMessage:
    """Return a partial message as one that ended before it was whole."""
    return replace(message, status="interrupted", reason=reason, writer="")


def check_new(ids: Sequence[str], taken: Collection[str] = ()) -> None:
    """Raise InvalidOption for an identity that is there twice, or is taken already."""
    seen: set[str] = set()
    for one in ids:
        if one in taken or one in seen:
            raise InvalidOption("id", one, "an identity that no message of the session has")
        seen.add(one)


def _place(messages: list[StoredMessage], turn: str) -> int | None:
    """Return the position behind the last message of a turn; None if no message of that identity begins one."""
    if turn:
        for position in range(len(messages) - 1, -1, -1):
            if messages[position].id == turn:
                end = position + 1
                while end < len(messages) and messages[end].turn == turn:
                    end += 1
                return None if messages[position].turn else end
    return None
