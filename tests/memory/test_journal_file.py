"""The file of a SimpleChatStore: whole after any crash, shared by processes, checked when read."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.memory.support import texts, user

from responsa.memory import SimpleChatStore
from responsa.memory.chat_stores import journal_file
from responsa.schema.errors import (
    ChatStoreDamaged,
    ChatStoreUnavailable,
    ChatStoreVersionMismatch,
    InvalidOption,
    SessionNotFound,
)
from responsa.schema.stored import StoredMessage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.jsonl"


def test_the_file_is_made_with_the_first_change_for_its_owner_alone(path: Path) -> None:
    store = SimpleChatStore(path)
    assert store.list_sessions() == []
    assert not path.exists()
    store.add_message("a", user("hello"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_cut_at_any_byte_holds_what_was_whole_and_can_be_written_on(path: Path) -> None:
    store = SimpleChatStore(path)
    for text in ("one", "zwei é", "三"):
        store.add_message("a", user(text))
    content = path.read_bytes()
    ends = [n + 1 for n, byte in enumerate(content) if byte == 10]
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        whole = ["one", "zwei é", "三"][: max(sum(end <= length for end in ends) - 1, 0)]
        cut = SimpleChatStore(path)
        assert texts(cut.list_messages("a")) == whole
        cut.add_message("a", user("next"))
        assert texts(SimpleChatStore(path).list_messages("a")) == [*whole, "next"]
        assert texts(cut.list_messages("a")) == [*whole, "next"]


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        '["unknown", 1, "a"]',
        '["add", 1, "a", [{}]]',
        '["add", 1, "a", [{"id": 1, "message": {"role": "user", "blocks": []}, "status": "complete", "created": 1}]]',
        '["add", 1, "a", [{"id": "1", "message": {"role": "x", "blocks": []}, "status": "complete", "created": 1}]]',
        '["add", 1, "a", [{"id": "1", "message": {"role": "user", "blocks": []}, "status": "odd", "created": 1}]]',
        '["add", "now", "a", []]',
        '["rename", 1, "unknown", "title"]',
        '["session", {"id": "a"}, [], {}]',
        '["session", {"id": "a", "title": "", "created": 1, "updated": 1}, [], {"s": 1}]',
        "[" * 100_000,
        '"\\ud800',
    ],
)
def test_a_line_that_records_no_change_is_told_with_its_number(path: Path, line: str) -> None:
    SimpleChatStore(path).add_message("a", user("hello"))
    with path.open("a") as file:
        file.write(line + "\n")
    store = SimpleChatStore(path)
    for call in (lambda: store.list_sessions(), lambda: store.add_message("a", user("x"))):
        with pytest.raises(ChatStoreDamaged, match="line 3"):
            call()
    assert path.read_text().endswith(line + "\n")


@pytest.mark.parametrize("header", ["", "{}", '["another", 1, "x", 0]', '["responsa-chat", "1", "x", 0]', "[1]"])
def test_a_file_of_another_kind_is_left_as_it_is(path: Path, header: str) -> None:
    path.write_text(header + "\nrest\n")
    with pytest.raises(ChatStoreDamaged, match="line 1"):
        SimpleChatStore(path).add_message("a", user("x"))
    assert path.read_text() == header + "\nrest\n"


def test_a_file_of_a_newer_version_is_refused(path: Path) -> None:
    path.write_text('["responsa-chat", 2, "x", 0]\n["something new"]\n')
    with pytest.raises(ChatStoreVersionMismatch) as caught:
        SimpleChatStore(path).list_sessions()
    assert (caught.value.found, caught.value.expected) == ("2", "1")


def test_a_file_that_grew_is_written_anew_and_other_readers_follow(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "_WORTH_REWRITING", 2000)
    writer, reader = SimpleChatStore(path), SimpleChatStore(path)
    message = StoredMessage(user("0"), id="1")
    writer.add_message("a", message)
    writer.set_state("a", "facts", ["x"], expected_version=0)
    sizes, headers = [], set()
    for number in range(200):
        writer.replace_message("a", StoredMessage(user(str(number)), id="1"))
        assert texts(reader.list_messages("a")) == [str(number)]
        sizes.append(path.stat().st_size)
        headers.add(path.read_bytes().split(b"\n")[0])
    assert max(sizes) < 10_000
    assert len(headers) > 5
    assert reader.get_states("a")["facts"].value == ["x"]
    reader.add_message("a", user("more"))
    assert texts(writer.list_messages("a")) == ["199", "more"]
    assert list(path.parent.glob("*.new")) == []


def test_a_change_that_cannot_be_written_is_not_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SimpleChatStore(path)
    store.add_message("a", user("one"))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(ChatStoreUnavailable, match="No space left"):
            store.add_message("a", user("two"))
    assert texts(store.list_messages("a")) == ["one"]
    assert texts(SimpleChatStore(path).list_messages("a")) == ["one"]
    store.add_message("a", user("three"))
    assert texts(SimpleChatStore(path).list_messages("a")) == ["one", "three"]


@pytest.mark.parametrize("value", [{"extra": {"o": object()}}, {"extra": {"o": float("inf")}}])
def test_a_value_that_json_cannot_hold_is_refused(path: Path, value: dict[str, Any]) -> None:
    store = SimpleChatStore(path)
    with pytest.raises(InvalidOption, match="message"):
        store.add_message("a", StoredMessage(user("x"), **value))
    assert store.list_sessions() == []


def test_a_directory_that_is_not_there_is_told(tmp_path: Path) -> None:
    store = SimpleChatStore(tmp_path / "missing" / "chats.jsonl")
    assert store.list_sessions() == []
    with pytest.raises(ChatStoreUnavailable, match="missing"):
        store.add_message("a", user("x"))
    with pytest.raises(ChatStoreUnavailable):
        SimpleChatStore(tmp_path).list_sessions()


def test_a_failed_step_leaves_the_store_usable(path: Path) -> None:
    store = SimpleChatStore(path)
    store.add_message("a", user("one"))
    with pytest.raises(SessionNotFound):
        store.rename_session("unknown", "x")
    assert texts(store.list_messages("a")) == ["one"]


def test_a_file_that_was_removed_is_an_empty_store(path: Path) -> None:
    store = SimpleChatStore(path)
    store.add_message("a", user("one"))
    path.unlink()
    assert store.list_sessions() == []
    store.add_message("b", user("two"))
    assert texts(SimpleChatStore(path).list_messages("b")) == ["two"]


def test_threads_may_share_a_store(path: Path) -> None:
    store, errors = SimpleChatStore(path), []

    def write(name: str) -> None:
        try:
            for number in range(25):
                store.add_message("a", user(f"{name}{number}"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    stored = texts(SimpleChatStore(path).list_messages("a"))
    for name in "abc":
        assert [text for text in stored if text[0] == name] == [f"{name}{number}" for number in range(25)]


def test_sessions_are_persisted_to_a_file_and_read_from_it(tmp_path: Path) -> None:
    store = SimpleChatStore()
    store.add_message("a", user("hello"))
    store.set_state("a", "facts", 1, expected_version=0)
    store.persist(tmp_path / "kept.json")
    loaded = SimpleChatStore.from_persist_path(tmp_path / "kept.json")
    assert loaded.list_messages("a") == store.list_messages("a")
    assert loaded.get_states("a") == store.get_states("a")
    loaded.add_message("a", user("only in memory"))
    assert len(SimpleChatStore.from_persist_path(tmp_path / "kept.json").list_messages("a")) == 1
    assert SimpleChatStore.from_persist_path(tmp_path / "none.json").list_sessions() == []
    attached = SimpleChatStore(tmp_path / "kept.json")
    attached.add_message("a", user("more"))
    attached.persist(tmp_path / "copy.json")
    assert texts(SimpleChatStore.from_persist_path(tmp_path / "copy.json").list_messages("a")) == ["hello", "more"]
    with pytest.raises(ChatStoreUnavailable):
        store.persist(tmp_path / "missing" / "kept.json")


def test_lines_are_json_in_ascii(path: Path) -> None:
    store = SimpleChatStore(path)
    store.add_message("会话", user("你好\x00\ud800"))
    for line in path.read_bytes().splitlines():
        line.decode("ascii")
        json.loads(line)
