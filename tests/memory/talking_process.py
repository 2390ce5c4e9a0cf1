"""A process that talks: it is run by tests, as a program of its own.

Arguments: the store (a path that ends in .jsonl, another path, or a database's address), the session, "blocking" or
"asynchronous", a name, and how many turns: with 0 it answers one question without end, and tells of every piece.
"""

from __future__ import annotations

import asyncio
import sys
import time

from responsa.memory import Memory, SimpleChatStore, SQLAlchemyChatStore
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import ChatStore

PIECE_SECONDS = 0.02


def opened(where: str) -> ChatStore:
    return SimpleChatStore(where) if where.endswith(".jsonl") else SQLAlchemyChatStore(where)


def tell(text: str) -> None:
    print(text, flush=True)


def endless(memory: Memory) -> None:
    turn = memory.begin_turn(ChatMessage("user", "Why?"))
    tell("begun")
    for number in range(1_000_000):
        piece = f"{number} "
        tell(piece)
        turn.delta(piece)
        time.sleep(PIECE_SECONDS)


async def aendless(memory: Memory) -> None:
    turn = await memory.abegin_turn(ChatMessage("user", "Why?"))
    tell("begun")
    for number in range(1_000_000):
        piece = f"{number} "
        tell(piece)
        await turn.adelta(piece)
        await asyncio.sleep(PIECE_SECONDS)


def talk(memory: Memory, name: str, turns: int) -> None:
    for number in range(turns):
        turn = memory.begin_turn(ChatMessage("user", f"question {name} {number}"))
        turn._flushed = -1.0  # every piece is due
        turn.delta(f"answer {name} ")
        turn.finish(f"answer {name} {number}")


async def atalk(memory: Memory, name: str, turns: int) -> None:
    for number in range(turns):
        turn = await memory.abegin_turn(ChatMessage("user", f"question {name} {number}"))
        turn._flushed = -1.0
        await turn.adelta(f"answer {name} ")
        await turn.afinish(f"answer {name} {number}")


def main() -> None:
    where, session, way, name, turns = sys.argv[1:]
    memory = Memory(session, chat_store=opened(where))
    if way == "blocking":
        endless(memory) if turns == "0" else talk(memory, name, int(turns))
    else:
        asyncio.run(aendless(memory) if turns == "0" else atalk(memory, name, int(turns)))


if __name__ == "__main__":
    main()
