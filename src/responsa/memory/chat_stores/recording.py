"""Changes of conversations as lines of a journal, and the same changes made again from such lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from responsa.schema.errors import ResponsaError
from responsa.schema.stored import MessageStatus, Session, SessionState, StoredMessage

from .conversations import Conversations
from .serialization import (
    session_from_json,
    session_to_json,
    states_from_json,
    states_to_json,
    stored_from_json,
    stored_to_json,
    to_text,
)


class Recorder:
    """A repository that makes changes and writes each down as a line of JSON: the operation and its arguments.

    Args:
        held: The conversations that are changed.

    Attributes:
        lines: What was written down so far.
        durable: Whether any of it must outlive a loss of power; a message that is still being written need not.
    """

    def __init__(self, held: Conversations) -> None:
        self._held = held
        self.lines: list[str] = []
        self.durable = True

    def listed(self, limit: int | None, offset: int, prefix: str) -> list[Session]:
        return self._held.listed(limit, offset, prefix)

    def found(self, session_id: str) -> Session | None:
        return self._held.found(session_id)

    def messages(self, session_id: str) -> list[StoredMessage]:
        return self._held.messages(session_id)

    def states(self, session_id: str) -> dict[str, SessionState]:
        return self._held.states(session_id)

    def create(self, now: float, session_id: str, title: str) -> Session:
        if (there := self._held.found(session_id)) is not None:
            return there
        self.lines.append(to_text("title", ["create", now, session_id, title]))
        return self._held.create(now, session_id, title)

    def rename(self, now: float, session_id: str, title: str) -> Session:
        session = self._held.rename(now, session_id, title)
        self.lines.append(to_text("title", ["rename", now, session_id, title]))
        return session

    def delete(self, session_id: str) -> bool:
        there = self._held.delete(session_id)
        if there:
            self.lines.append(to_text("session_id", ["delete", session_id]))
        return there

    def fork(self, now: float, session_id: str, upto: str, new_id: str, title: str | None) -> Session:
        session = self._held.fork(now, session_id, upto, new_id, title)
        self.lines.append(to_text("title", ["fork", now, session_id, upto, new_id, title]))
        return session

    def add(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        line = to_text("message", ["add", now, session_id, [stored_to_json(one) for one in messages]])
        self._held.add(now, session_id, messages)
        self.lines.append(line)

    def replace(self, now: float, session_id: str, message: StoredMessage, expected: MessageStatus | None) -> bool:
        line = to_text("message", ["replace", now, session_id, stored_to_json(message)])
        done = self._held.replace(now, session_id, message, expected)
        if done:
            self.lines.append(line)
            self.durable = message.status != "partial"
        return done

    def set(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        line = to_text("message", ["set", now, session_id, [stored_to_json(one) for one in messages]])
        self._held.set(now, session_id, messages)
        self.lines.append(line)

    def truncate(self, now: float, session_id: str, message_id: str, including: bool) -> int:
        removed = self._held.truncate(now, session_id, message_id, including)
        self.lines.append(to_text("message_id", ["truncate", now, session_id, message_id, including]))
        return removed

    def set_state(self, now: float, session_id: str, name: str, value: Any, expected_version: int) -> bool:
        line = to_text("value", ["set_state", now, session_id, name, value, expected_version])
        done = self._held.set_state(now, session_id, name, value, expected_version)
        if done:
            self.lines.append(line)
        return done


def snapshot(held: Conversations) -> Iterator[str]:
    """Yield the lines that all of `held` can be made from again, one a session."""
    for one in held.sessions.values():
        messages = [stored_to_json(message) for message in one.messages]
        yield to_text("session", ["session", session_to_json(one.session), messages, states_to_json(one.states)])


def apply(line: bytes, held: Conversations) -> None:
    """Make the change that a line records.

    Raises:
        ValueError: The line records no change that can be made.
    """
    try:
        _apply(json.loads(line), held)
    except (ResponsaError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _apply(entry: Any, held: Conversations) -> None:
    match entry:
        case ["session", session, list(messages), states]:
            held.restore(session_from_json(session), _stored(messages), states_from_json(states))
        case ["create", int() | float() as now, str(key), str(title)]:
            held.create(now, key, title)
        case ["rename", int() | float() as now, str(key), str(title)]:
            held.rename(now, key, title)
        case ["delete", str(key)]:
            held.delete(key)
        case ["fork", int() | float() as now, str(key), str(upto), str(new_key), (str() | None) as new_title]:
            held.fork(now, key, upto, new_key, new_title)
        case ["add", int() | float() as now, str(key), list(messages)]:
            held.add(now, key, _stored(messages))
        case ["replace", int() | float() as now, str(key), message]:
            held.replace(now, key, stored_from_json(message), None)
        case ["set", int() | float() as now, str(key), list(messages)]:
            held.set(now, key, _stored(messages))
        case ["truncate", int() | float() as now, str(key), str(message_id), bool(including)]:
            held.truncate(now, key, message_id, including)
        case ["set_state", int() | float() as now, str(key), str(name), value, int(version)]:
            held.set_state(now, key, name, value, version)
        case _:
            raise ValueError("a line that records no change")


def _stored(values: list[Any]) -> list[StoredMessage]:
    return [stored_from_json(value) for value in values]
