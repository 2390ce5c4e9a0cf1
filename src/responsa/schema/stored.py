"""Conversations as they are stored: sessions, and their messages with what became of each."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from .excerpts import excerpt
from .messages import ChatMessage, MessageRole

MessageStatus: TypeAlias = Literal["complete", "partial", "interrupted"]
TITLE_LENGTH: Final = 60  # characters


def new_id() -> str:
    """Return an identity that no other session or message has: 32 hexadecimal digits."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message of a session, and what became of it.

    Args:
        message: What was said.
        id: Its identity, unique in its session.
        turn: The identity of the message that began its turn: the user's. Empty for a message that stands alone.
            Messages of one turn stand together, whoever else writes to the session meanwhile.
        status: "complete"; "partial" while it is being written; "interrupted" if it ended before it was whole. A user's
            message is partial while its turn is to come, and interrupted if that never came.
        reason: Why it was interrupted: "closed", "process_ended", or the error's text.
        reasoning: The model's reasoning; never part of the message.
        created: When it was begun, in seconds since 1970 (UTC).
        writer: Who writes a partial message; see `responsa.memory.writers`.
        extra: What belongs to it besides, such as sources and citations: values that JSON can hold.
    """

    message: ChatMessage
    id: str = field(default_factory=new_id)
    turn: str = ""
    status: MessageStatus = "complete"
    reason: str = ""
    reasoning: str = ""
    created: float = field(default_factory=time.time)
    writer: str = ""
    extra: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def role(self) -> MessageRole:
        """Who speaks."""
        return self.message.role

    @property
    def content(self) -> str:
        """The message's text."""
        return self.message.content


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation.

    Args:
        id: Its identity: any text.
        title: What it is called: given, or the beginning of its first user message.
        created: When it was begun, in seconds since 1970 (UTC).
        updated: When it was last written to, in seconds since 1970 (UTC).
    """

    id: str
    title: str = ""
    created: float = 0.0
    updated: float = 0.0


@dataclass(frozen=True, slots=True)
class SessionState:
    """What a part of the memory, such as a memory block, keeps with a session.

    Args:
        value: A value that JSON can hold.
        version: Counts the writings of it, from 1; 0 where nothing was written yet.
    """

    value: Any = None
    version: int = 0


def as_stored(message: ChatMessage | StoredMessage) -> StoredMessage:
    """Return `message` as a stored one."""
    return message if isinstance(message, StoredMessage) else StoredMessage(message)


def title_of(message: StoredMessage) -> str:
    """Return the title a session takes from a message: the beginning of a user's text, else nothing."""
    if message.role is not MessageRole.USER:
        return ""
    return excerpt(message.content, TITLE_LENGTH)
