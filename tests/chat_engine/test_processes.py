"""Engines in several processes on one session, and processes that are killed in the middle of an answer."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from tests.chat_engine.chatting_process import PIECE_SECONDS, WORDS

from responsa.chat_engine import SimpleChatEngine
from responsa.memory import Memory, SQLAlchemyChatStore
from responsa.testing import ScriptedLLM

WAYS = ["blocking", "asynchronous"]


@contextmanager
def chatting(where: Path, way: str, name: str, turns: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.chat_engine.chatting_process", str(where), way, name, str(turns)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("way", WAYS)
def test_a_process_killed_in_mid_stream_leaves_the_message_and_all_but_a_second_of_the_answer(
    tmp_path: Path, way: str
) -> None:
    delivered = ""
    with chatting(tmp_path / "chats.db", way, "a", 0) as process:
        assert process.stdout is not None
        for _ in range(80):
            delivered += process.stdout.readline().removesuffix("\n")
        process.send_signal(signal.SIGKILL)
        delivered += "".join(process.stdout.read().splitlines())
    with SQLAlchemyChatStore(tmp_path / "chats.db") as store:
        memory = Memory("s", chat_store=store)
        asked, answer = memory.recover()
        assert (asked.content, asked.status) == ("Why?", "complete")
        assert (answer.status, answer.reason) == ("interrupted", "process_ended")
        assert answer.content
        assert delivered.startswith(answer.content)
        missing = delivered.removeprefix(answer.content).split()
        assert len(missing) * PIECE_SECONDS <= 1.0

        SimpleChatEngine(llm=ScriptedLLM("Because."), memory=memory).chat("Why?")
        assert [message.content for message in memory.get_all()] == ["Why?", "Because."]


def test_engines_of_several_processes_neither_lose_nor_mix_turns(tmp_path: Path) -> None:
    turns, names = 10, ["a", "b", "c"]
    ways = [*WAYS, "blocking"]
    with ExitStack() as running:
        started = [
            running.enter_context(chatting(tmp_path / "chats.db", way, name, turns))
            for way, name in zip(ways, names, strict=True)
        ]
        assert [process.wait(200) for process in started] == [0, 0, 0]
    with SQLAlchemyChatStore(tmp_path / "chats.db") as store:
        messages = store.list_messages("s")
    assert len(messages) == 2 * turns * len(names)
    for asked, answer in zip(messages[::2], messages[1::2], strict=True):
        assert (answer.turn, answer.status) == (asked.id, "complete")
        assert answer.content.startswith(asked.content.removeprefix("question ") + " word" * WORDS)
    for name in names:
        mine = [one.content for one in messages if one.content.startswith(f"question {name}")]
        assert mine == [f"question {name} {number}" for number in range(turns)]
