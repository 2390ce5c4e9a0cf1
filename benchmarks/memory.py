"""What a conversation's memory costs: time of a put and a recall, and the weight of many sessions.

Run: python benchmarks/memory.py
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from responsa.memory import Memory, SimpleChatStore, SQLAlchemyChatStore
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import ChatStore

SESSIONS = 1000
QUESTION = ChatMessage("user", "What does the heap of a binary tree look like after the third step?")
ANSWER = ChatMessage("assistant", "It holds the smallest key on top; no parent is larger than its children. " * 4)


def resident_megabytes() -> float:
    """Return the process's resident memory; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return 0.0
    return pages * 4096 / 1e6


def many_sessions(count: int = SESSIONS) -> tuple[float, int]:
    """Return the megabytes and the threads that sessions of three turns each cost, all alive at once."""
    Memory().get()  # what is loaded once is no session's cost
    before, threads = resident_megabytes(), threading.active_count()
    alive = []
    for _ in range(count):
        memory = Memory.from_defaults()
        memory.put_messages([QUESTION, ANSWER] * 3)
        memory.get()
        alive.append(memory)
    return resident_megabytes() - before, threading.active_count() - threads


def milliseconds(call: Callable[[], object], times: int) -> tuple[float, float]:
    """Return the wall and the CPU milliseconds of one call, over many."""
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(times):
        call()
    return (time.perf_counter() - wall) * 1000 / times, (time.process_time() - processor) * 1000 / times


def main() -> None:
    """Print the figures."""
    megabytes, threads = many_sessions()
    print(f"{SESSIONS} sessions of 6 messages: {megabytes:.1f} MB, {threads} threads")
    with tempfile.TemporaryDirectory() as directory, SQLAlchemyChatStore(Path(directory, "chats.db")) as database:
        stores: list[tuple[str, ChatStore, int]] = [
            ("memory", SimpleChatStore(), 5000),
            ("file", SimpleChatStore(Path(directory, "chats.jsonl")), 200),
            ("sqlite", database, 200),
        ]
        print(f"{'milliseconds (wall, CPU)':<28}{'put':>16}{'turn':>16}{'recall of 400':>16}")
        for name, store, times in stores:
            memory = Memory("put", chat_store=store)
            put = milliseconds(lambda memory=memory: memory.put(QUESTION), times)  # type: ignore[misc]
            talk = Memory("turns", chat_store=store)
            turn = milliseconds(lambda talk=talk: talk.begin_turn(QUESTION).finish("x"), min(times, 200))  # type: ignore[misc]
            long = Memory.from_defaults("long", chat_store=store, chat_history=[QUESTION, ANSWER] * 200)
            recall = milliseconds(long.get, 20)
            print(f"{name:<28}" + "".join(f"{wall:>9.3f} {cpu:>6.3f}" for wall, cpu in (put, turn, recall)))


if __name__ == "__main__":
    main()
