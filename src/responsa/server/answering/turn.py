"""One question to be answered: its program, and what was found beside what it used."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from responsa import grounding
from responsa.indices import VectorStoreIndex
from responsa.programs import Program, astream
from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import BaseSynthesizer
from responsa.schema.events import Event
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, as_query
from responsa.schema.plans import Plan
from responsa.schema.response import Response

# Hits beyond those the answer is made from, for the reader to go on with.
RELATED: Final = 4


@dataclass(slots=True)
class Turn:
    """A question and what it is answered from: an index, or passages that were given.

    Args:
        question: The question.
        synthesizer: Makes the answer.
        index: Where to search; None where the passages are given, or none are needed.
        given: The passages given.
        top_k: The most passages to answer from.
        llm_kwargs: How the answer is generated.
        watched: Takes the answer's mode and events, and passes the events on.

    Attributes:
        related: What was found and not used; known once the search has been made.
    """

    question: str
    synthesizer: BaseSynthesizer
    index: VectorStoreIndex | None = None
    given: tuple[NodeWithScore, ...] = ()
    top_k: int = 8
    llm_kwargs: dict[str, Any] = field(default_factory=dict)
    watched: Callable[[str, AsyncGenerator[Event, None]], AsyncGenerator[Event, None]] | None = None
    related: list[NodeWithScore] = field(default_factory=list)

    def events(self) -> AsyncGenerator[Event, None]:
        """Answer the question and yield all that happens."""
        synthesizer = self.synthesizer
        events = grounding.acited(astream(self.program(), synthesizer.llm, concurrency=synthesizer.concurrency))
        return events if self.watched is None else self.watched(synthesizer.mode, events)

    def program(self) -> Program[Response]:
        """Return the program that answers the question; it is searched for as it stands."""
        return self.answer(self.question)

    def answer(self, words: str, history: Sequence[ChatMessage] = ()) -> Program[Response]:
        """Return the program that answers the question after a conversation.

        Args:
            words: What to search with.
            history: The conversation.
        """
        nodes = list(self.given)
        if self.index is not None:
            nodes = self._kept((yield from self._engine(self.index).find(as_query(words))))
        return (
            yield from self.synthesizer.announced(self.question, nodes, llm_kwargs=self.llm_kwargs, history=history)
        )

    async def find(self) -> list[NodeWithScore]:
        """Return the passages to answer from; sets `related`."""
        if self.index is None:
            return list(self.given)
        return self._kept(await self._engine(self.index).aretrieve(self.question))

    async def plan(self, nodes: list[NodeWithScore]) -> Plan:
        """Return the calls the answer would take."""
        return await self.synthesizer.aplan(self.question, nodes, llm_kwargs=self.llm_kwargs)

    def _engine(self, index: VectorStoreIndex) -> RetrieverQueryEngine:
        return RetrieverQueryEngine(index.as_retriever(self.top_k + RELATED), self.synthesizer)

    def _kept(self, found: list[NodeWithScore]) -> list[NodeWithScore]:
        self.related = found[self.top_k :]
        return found[: self.top_k]
