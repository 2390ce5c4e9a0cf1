"""Random changes come to the same in every store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.memory.support import TEXTS, assistant, user

from responsa.memory import SimpleChatStore, SQLAlchemyChatStore
from responsa.schema.errors import ResponsaError
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import Session, StoredMessage

KEYS = st.sampled_from(["a", "b", "\x00"])
IDS = st.sampled_from(["1", "2", "3", "4", "5", "6"])
STATUSES = st.sampled_from(["complete", "partial", "interrupted"])


@dataclass(frozen=True)
class Change:
    """One call of a store's method."""

    name: str
    args: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()

    def made_on(self, store: ChatStore) -> Any:
        try:
            return getattr(store, self.name)(*self.args, **dict(self.options))
        except ResponsaError as error:
            return error.code


def change(name: str, *args: st.SearchStrategy[Any], **options: st.SearchStrategy[Any]) -> st.SearchStrategy[Change]:
    return st.builds(
        lambda given, named: Change(name, given, tuple(named.items())), st.tuples(*args), st.fixed_dictionaries(options)
    )


MESSAGES = st.builds(
    lambda make, text, id_, turn, status: StoredMessage(make(text), id=id_, turn=turn, status=status, created=1.0),
    st.sampled_from([user, assistant]),
    TEXTS,
    IDS,
    st.one_of(st.just(""), IDS),
    STATUSES,
)
BATCHES = st.lists(MESSAGES, max_size=4, unique_by=lambda message: message.id)
CHANGES = st.lists(
    st.one_of(
        change("add_messages", KEYS, BATCHES),
        change("add_messages", KEYS, st.lists(MESSAGES, max_size=3)),
        change("set_messages", KEYS, BATCHES),
        change("replace_message", KEYS, MESSAGES, expected=st.one_of(st.none(), STATUSES)),
        change("truncate_after", KEYS, IDS, including=st.booleans()),
        change("delete_messages", KEYS),
        change("delete_session", KEYS),
        change("rename_session", KEYS, TEXTS),
        change("set_state", KEYS, KEYS, TEXTS, expected_version=st.integers(0, 2)),
    ),
    max_size=12,
)
FORKS = change("fork_session", KEYS, IDS, KEYS, TEXTS)


def content(store: ChatStore) -> dict[str, Any]:
    return {
        session.id: (session.title, store.list_messages(session.id), store.get_states(session.id))
        for session in store.list_sessions()
    }


@pytest.fixture
def opened(tmp_path: Path, postgres_uri: str) -> Iterator[dict[str, ChatStore]]:
    with ExitStack() as open_stores:
        yield {
            "memory": SimpleChatStore(),
            "file": SimpleChatStore(tmp_path / "chats.jsonl"),
            "sqlite": open_stores.enter_context(SQLAlchemyChatStore(tmp_path / "chats.db")),
            "postgresql": open_stores.enter_context(SQLAlchemyChatStore(postgres_uri)),
        }


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.one_of(CHANGES, st.lists(FORKS, max_size=1)), max_size=3))
def test_random_changes_come_to_the_same_in_every_store(
    opened: dict[str, ChatStore], changes: list[list[Change]]
) -> None:
    for store in opened.values():
        for session in store.list_sessions():
            store.delete_session(session.id)
    reference = opened["memory"]
    for one in (each for group in changes for each in group):
        expected = plain(one.made_on(reference))
        for name, store in opened.items():
            if store is not reference:
                assert plain(one.made_on(store)) == expected, (name, one)
    held = content(reference)
    for name, store in opened.items():
        assert content(store) == held, name
    assert content(SimpleChatStore(opened["file"].location)) == held


def plain(result: Any) -> Any:
    """A result without the times at which each store made it."""
    return (result.id, result.title) if isinstance(result, Session) else result
