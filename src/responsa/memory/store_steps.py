"""What a program does with a chat store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from responsa.programs.effects import Perform, Program, perform
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import MessageStatus, SessionState, StoredMessage

_NAME = "chat_store"


def listed(store: ChatStore, session_id: str) -> Program[list[StoredMessage]]:
    """Return a session's messages in order."""
    messages: list[StoredMessage] = yield from perform(
        Perform(_NAME, lambda: store.list_messages(session_id), lambda: store.alist_messages(session_id))
    )
    return messages


def added(store: ChatStore, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> Program[list[str]]:
    """Add messages in one step."""
    ids: list[str] = yield from perform(
        Perform(
            _NAME,
            lambda: store.add_messages(session_id, messages),
            lambda: store.aadd_messages(session_id, messages),
        )
    )
    return ids


def replaced(
    store: ChatStore, session_id: str, message: StoredMessage, expected: MessageStatus | None
) -> Program[bool]:
    """Put a message in the place of the one with its identity, if it has the expected status."""
    done: bool = yield from perform(
        Perform(
            _NAME,
            lambda: store.replace_message(session_id, message, expected=expected),
            lambda: store.areplace_message(session_id, message, expected=expected),
        )
    )
    return done


def states_of(store: ChatStore, session_id: str) -> Program[dict[str, SessionState]]:
    """Return what is kept with a session, by name."""
    states: dict[str, SessionState] = yield from perform(
        Perform(_NAME, lambda: store.get_states(session_id), lambda: store.aget_states(session_id))
    )
    return states


def state_set(store: ChatStore, session_id: str, name: str, value: Any, version: int) -> Program[bool]:
    """Keep a value with a session if its version is still `version`."""
    done: bool = yield from perform(
        Perform(
            _NAME,
            lambda: store.set_state(session_id, name, value, expected_version=version),
            lambda: store.aset_state(session_id, name, value, expected_version=version),
        )
    )
    return done
