"""A process that chats: it is run by tests, as a program of its own.

Arguments: the database's path, "blocking" or "asynchronous", a name, and how many turns: with 0 it asks one question,
whose answer has no end, and tells of every piece that reaches it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Generator, Sequence

from responsa.chat_engine import CondensePlusContextChatEngine
from responsa.memory import Memory, SQLAlchemyChatStore
from responsa.schema.completions import Delta, Sampling, StreamItem
from responsa.schema.events import TextDelta
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, QueryBundle, TextNode
from responsa.testing import ScriptedLLM

PIECE_SECONDS = 0.02
WORDS = 12


class EndlessLLM(ScriptedLLM):
    """Counts without end."""

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        for number in range(1_000_000):
            yield Delta(f"{number} ")
            time.sleep(PIECE_SECONDS)

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        for number in range(1_000_000):
            yield Delta(f"{number} ")
            await asyncio.sleep(PIECE_SECONDS)


class Notes:
    """A retriever that finds one passage for everything."""

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(TextNode(text="Service B listens on port 8001.", id_="b"), 1.0)]

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        return self.retrieve(query)


def answering(messages: Sequence[ChatMessage]) -> str:
    """Answer the question with itself; where a rewrite is asked for, give none."""
    asked = messages[-1].content
    if "Standalone question:" in asked:
        return ""
    return asked.splitlines()[-1].removeprefix("question ") + " word" * WORDS


def endless(engine: CondensePlusContextChatEngine) -> None:
    for event in engine.stream_events("Why?"):
        if isinstance(event, TextDelta):
            print(event.text, flush=True)


async def aendless(engine: CondensePlusContextChatEngine) -> None:
    async for event in engine.astream_events("Why?"):
        if isinstance(event, TextDelta):
            print(event.text, flush=True)


async def atalk(engine: CondensePlusContextChatEngine, name: str, turns: int) -> None:
    for number in range(turns):
        await engine.achat(f"question {name} {number}")


def main() -> None:
    where, way, name, turns = sys.argv[1:]
    memory = Memory("s", chat_store=SQLAlchemyChatStore(where))
    llm = ScriptedLLM(answering) if int(turns) else EndlessLLM()
    engine = CondensePlusContextChatEngine(Notes(), llm=llm, memory=memory)
    if way == "asynchronous":
        asyncio.run(atalk(engine, name, int(turns)) if int(turns) else aendless(engine))
    elif int(turns):
        for number in range(int(turns)):
            engine.chat(f"question {name} {number}")
    else:
        endless(engine)


if __name__ == "__main__":
    main()
