"""A memory is a plain list: no thread, no event loop, next to no weight."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.memory.support import LLM, talk, user

from responsa.memory import Memory, StaticMemoryBlock

ROOT = Path(__file__).parents[2]


def test_a_thousand_sessions_weigh_little_and_make_no_thread() -> None:
    code = "from benchmarks.memory import many_sessions; print(*many_sessions(1000))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    megabytes, threads = map(float, done.stdout.split())
    assert megabytes <= 20
    assert threads == 0


def test_no_method_makes_a_thread_or_an_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a thread or an event loop was made")

    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr(asyncio, "new_event_loop", refused)
    memory = Memory.from_defaults(
        chat_history=talk(20), llm=LLM, token_limit=90, memory_blocks=[StaticMemoryBlock("x")]
    )
    memory.put(user("hello"))
    turn = memory.begin_turn(user("Why?"))
    turn.delta("Beca")
    turn.finish("Because.")
    assert memory.get("now")
    assert memory.recover()
    memory.reset()


def test_the_async_forms_make_no_thread_and_work_in_a_running_loop() -> None:
    async def main() -> None:
        before = threading.active_count()
        memory = Memory(llm=LLM)
        await memory.aput(user("hello"))
        turn = await memory.abegin_turn(user("Why?"))
        await turn.adelta("Beca")
        await turn.afinish("Because.")
        assert len(await memory.aget()) == 3
        assert memory.get() == await memory.aget()  # the blocking form inside a loop, as in a notebook
        assert threading.active_count() == before

    asyncio.run(main())
