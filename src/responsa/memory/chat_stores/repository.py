"""What a store's back end does within one step, whatever it keeps the conversations in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from responsa.schema.stored import MessageStatus, Session, SessionState, StoredMessage


class Repository(Protocol):
    """The reads and changes that `ChatStore`'s methods are made of.

    `now` is the time of a change, in seconds since 1970 (UTC); `store.py` gives it, and the identities.
    """

    def listed(self, limit: int | None, offset: int, prefix: str) -> list[Session]:
        """Return the sessions whose key begins with `prefix`, last written first."""
        ...

    def found(self, session_id: str) -> Session | None:
        """Return a session, or None."""
        ...

    def messages(self, session_id: str) -> list[StoredMessage]:
        """Return a session's messages in order."""
        ...

    def states(self, session_id: str) -> dict[str, SessionState]:
        """Return a session's states by name."""
        ...

    def create(self, now: float, session_id: str, title: str) -> Session:
        """Begin a session, or return the one that is there."""
        ...

    def rename(self, now: float, session_id: str, title: str) -> Session:
        """Give a session another title."""
        ...

    def delete(self, session_id: str) -> bool:
        """Remove a session."""
        ...

    def fork(self, now: float, session_id: str, upto: str, new_id: str, title: str | None) -> Session:
        """Begin a session with another's messages up to one of them."""
        ...

    def add(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        """Add messages, each behind its turn."""
        ...

    def replace(self, now: float, session_id: str, message: StoredMessage, expected: MessageStatus | None) -> bool:
        """Put a message in the place of the one with its identity."""
        ...

    def set(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        """Put messages in the place of all that the session holds."""
        ...

    def truncate(self, now: float, session_id: str, message_id: str, including: bool) -> int:
        """Remove what follows a message."""
        ...

    def set_state(self, now: float, session_id: str, name: str, value: Any, expected_version: int) -> bool:
        """Keep a value with a session if its version is the expected one."""
        ...
