"""Every store keeps to the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from responsa.memory.chat_stores import SimpleChatStore, SQLAlchemyChatStore
from responsa.schema.protocols import ChatStore
from responsa.testing.chat_store_contract import ChatStoreContract


class TestSimpleChatStoreInMemory(ChatStoreContract):
    @pytest.fixture
    def store(self) -> ChatStore:
        return SimpleChatStore()


class TestSimpleChatStoreInAFile(ChatStoreContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> ChatStore:
        return SimpleChatStore(tmp_path / "chats.jsonl")

    def another(self, store: SimpleChatStore) -> ChatStore:
        return SimpleChatStore(store.location)


class SQLContract(ChatStoreContract):
    opened: list[SQLAlchemyChatStore]

    def another(self, store: SQLAlchemyChatStore) -> ChatStore:
        self.opened.append(SQLAlchemyChatStore(self.uri))
        return self.opened[-1]

    def opened_at(self, uri: str | Path) -> Iterator[ChatStore]:
        self.uri = uri
        self.opened = [SQLAlchemyChatStore(uri)]
        yield self.opened[0]
        for store in self.opened:
            store.close()


class TestSQLAlchemyChatStoreOnSQLite(SQLContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[ChatStore]:
        yield from self.opened_at(tmp_path / "chats.db")


class TestSQLAlchemyChatStoreOnPostgreSQL(SQLContract):
    @pytest.fixture
    def store(self, postgres_uri: str) -> Iterator[ChatStore]:
        yield from self.opened_at(postgres_uri)
