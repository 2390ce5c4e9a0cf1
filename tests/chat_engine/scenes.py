"""A retriever and a model for chats."""

from __future__ import annotations

from collections.abc import Sequence

from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, QueryBundle, TextNode


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
