"""A retriever and a model for chats."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing, closing
from typing import Any

from responsa.schema.completions import Sampling, StreamItem
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, QueryBundle, TextNode
from responsa.testing import ScriptedLLM
from responsa.testing.scripted_llm import Script


class Shelf:
    """A retriever that finds the same passages for everything, and remembers what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts or ("Service B listens on port 8001.", "Service B restarts at night.")
        self.asked: list[str] = []

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        self.asked.append(str(query))
        return [NodeWithScore(TextNode(text=text, id_=text), 1.0) for text in self.texts]

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        return self.retrieve(query)


def talker(rewritten: str = "When does service B restart?", answer: str = "At night. [2]"):
    """Return a script that rewrites where it is asked to, and answers else."""

    def script(messages: Sequence[ChatMessage]) -> str:
        last = messages[-1].content
        return rewritten if "Standalone question:" in last or "独立的问题：" in last else answer

    return script


class BreakingLLM(ScriptedLLM):
    """A scripted model that breaks off after some pieces of each answer.

    Attributes:
        after: How many pieces it gives; None never breaks.
        error: What it breaks off with.
    """

    def __init__(self, script: Script, error: BaseException | None = None, after: int | None = None, **options: Any):
        super().__init__(script, **options)
        self.error = error
        self.after = after

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        with closing(super().stream(messages, sampling)) as items:
            for number, item in enumerate(items):
                self._break(number)
                yield item

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        async with aclosing(super().astream(messages, sampling)) as items:
            number = 0
            async for item in items:
                self._break(number)
                number += 1
                yield item

    def _break(self, number: int) -> None:
        if number == self.after and self.error is not None:
            raise self.error
