"""Several processes on one session, and processes that are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.memory.support import user
from tests.memory.talking_process import PIECE_SECONDS, opened

from responsa.memory import Memory, SQLAlchemyChatStore
from responsa.schema.protocols import ChatStore

WAYS = ["blocking", "asynchronous"]


@pytest.fixture(params=["file", "sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store is that processes share."""
    if request.param == "postgresql":
        uri: str = request.getfixturevalue("postgres_uri")
        return uri
    return str(tmp_path / {"file": "chats.jsonl", "sqlite": "chats.db"}[request.param])


@pytest.fixture
def store(where: str) -> Iterator[ChatStore]:
    store = opened(where)
    yield store
    if isinstance(store, SQLAlchemyChatStore):
        store.close()


@contextmanager
def talking(where: str, way: str, name: str, turns: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.memory.talking_process", where, "s", way, name, str(turns)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pieces", [0, 60])
def test_after_a_kill_the_question_is_there_and_all_but_a_second_of_the_answer(
    where: str, store: ChatStore, way: str, pieces: int
) -> None:
    delivered = ""
    with talking(where, way, "a", 0) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        for _ in range(pieces):
            delivered += process.stdout.readline().removesuffix("\n")
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read()
        delivered += "".join(rest.splitlines())

    memory = Memory("s", chat_store=store)
    asked, answer = memory.recover()
    assert asked.message == user("Why?")
    assert (answer.status, answer.reason) == ("interrupted", "process_ended")
    assert delivered.startswith(answer.content)
    missing = delivered.removeprefix(answer.content).split()
    assert len(missing) * PIECE_SECONDS <= 1.0
    assert store.list_messages("s") == [asked, answer]

    turn = memory.begin_turn(user("Why?"))
    turn.finish("Because.")
    assert [message.content for message in memory.get_all()] == ["Why?", "Because."]


def test_processes_on_one_session_neither_lose_nor_mix_turns(where: str, store: ChatStore) -> None:
    turns = 12
    names = ["a", "b", "c"]
    ways = [*WAYS, "blocking"]
    with ExitStack() as running:
        started = [
            running.enter_context(talking(where, way, name, turns)) for way, name in zip(ways, names, strict=True)
        ]
        assert [process.wait(200) for process in started] == [0, 0, 0]
    stored = store.list_messages("s")
    assert len(stored) == 2 * turns * len(names)
    for asked, answer in zip(stored[::2], stored[1::2], strict=True):
        assert answer.turn == asked.id
        assert answer.status == "complete"
        assert answer.content == asked.content.replace("question", "answer")
    for name in names:
        mine = [one.content for one in stored if one.content.startswith(f"question {name}")]
        assert mine == [f"question {name} {number}" for number in range(turns)]
