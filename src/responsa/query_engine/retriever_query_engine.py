"""Retrieve, postprocess, synthesize: one program."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from functools import partial
from typing import Any

from responsa import grounding
from responsa.instrumentation import CallbackManager, watched
from responsa.programs import Perform, Program, arun, astream, perform, run, stream
from responsa.response_synthesizers import BaseSynthesizer, CompactAndRefine
from responsa.response_synthesizers.question import checked_question
from responsa.schema.errors import RetrievalFailed, StepFailed
from responsa.schema.events import Event
from responsa.schema.nodes import NodeWithScore, QueryBundle, as_query
from responsa.schema.plans import Plan
from responsa.schema.protocols import Postprocessor, Retriever
from responsa.schema.response import AsyncStreamingResponse, Response, StreamingResponse
from responsa.settings import Settings


class RetrieverQueryEngine:
    """Answers questions from what a retriever finds.

    Args:
        retriever: Finds the passages.
        response_synthesizer: Makes the answer; `CompactAndRefine` when left out. With `streaming=True` it makes
            `query` return a `StreamingResponse`.
        node_postprocessors: Filter, reorder or rescore what was found, in this order.
        callback_manager: Whose handlers are told of searches; `Settings.callback_manager` when left out.
    """

    def __init__(
        self,
        retriever: Retriever,
        response_synthesizer: BaseSynthesizer | None = None,
        node_postprocessors: Sequence[Postprocessor] = (),
        *,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self.retriever = retriever
        self.synthesizer = response_synthesizer or CompactAndRefine()
        self.node_postprocessors = tuple(node_postprocessors)
        self._callback_manager = callback_manager

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the passages for a question, postprocessed, best first."""
        return run(self.find(as_query(query)))

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the passages for a question without blocking."""
        return await arun(self.find(as_query(query)))

    def query(
        self, query: str | QueryBundle, *, llm_kwargs: Mapping[str, Any] | None = None
    ) -> Response | StreamingResponse:
        """Answer a question.

        Args:
            query: The question.
            llm_kwargs: How this answer is generated: `max_tokens`, `temperature`, and whatever the server takes.

        Raises:
            ResponsaError: The search failed, or the model could not be asked.
        """
        nodes = self.retrieve(query)
        return self.synthesizer.synthesize(query, nodes, llm_kwargs=llm_kwargs)

    async def aquery(
        self, query: str | QueryBundle, *, llm_kwargs: Mapping[str, Any] | None = None
    ) -> Response | AsyncStreamingResponse:
        """Answer a question without blocking; see `query`."""
        nodes = await self.aretrieve(query)
        return await self.synthesizer.asynthesize(query, nodes, llm_kwargs=llm_kwargs)

    def respond(self, query: str | QueryBundle, *, llm_kwargs: Mapping[str, Any] | None = None) -> Program[Response]:
        """Return the program of the whole response, its plan told before it runs."""
        nodes = yield from self.find(as_query(query))
        return (yield from self.synthesizer.announced(query, nodes, llm_kwargs=llm_kwargs))

    def stream_events(
        self, query: str | QueryBundle, *, llm_kwargs: Mapping[str, Any] | None = None
    ) -> Generator[Event, None, None]:
        """Answer a question and yield all that happens: plan, sources, text, citations, the response."""
        program = self.respond(query, llm_kwargs=llm_kwargs)
        return grounding.cited(stream(program, self.synthesizer.llm, concurrency=self.synthesizer.concurrency))

    def astream_events(
        self, query: str | QueryBundle, *, llm_kwargs: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer a question without blocking and yield all that happens; see `stream_events`."""
        program = self.respond(query, llm_kwargs=llm_kwargs)
        return grounding.acited(astream(program, self.synthesizer.llm, concurrency=self.synthesizer.concurrency))

    def plan(self, query: str | QueryBundle, *, llm_kwargs: Mapping[str, Any] | None = None) -> Plan:
        """Search, and return the calls `query` will make, without asking the model."""
        return self.synthesizer.plan(query, self.retrieve(query), llm_kwargs=llm_kwargs)

    async def aplan(self, query: str | QueryBundle, *, llm_kwargs: Mapping[str, Any] | None = None) -> Plan:
        """Search, and return the calls `aquery` will make, without asking the model and without blocking."""
        return await self.synthesizer.aplan(query, await self.aretrieve(query), llm_kwargs=llm_kwargs)

    def find(self, query: QueryBundle) -> Program[list[NodeWithScore]]:
        """Return the program of the search and its postprocessing."""
        manager: CallbackManager | None = self._callback_manager or Settings.callback_manager
        program = self._search(query)
        return program if manager is None else watched(program, manager)

    def _search(self, query: QueryBundle) -> Program[list[NodeWithScore]]:
        checked_question(query.query_str)
        nodes: list[NodeWithScore] = yield from _search(
            Perform("retrieve", partial(self.retriever.retrieve, query), partial(self.retriever.aretrieve, query))
        )
        for step in self.node_postprocessors:
            nodes = yield from _search(
                Perform(
                    type(step).__name__,
                    partial(step.postprocess_nodes, nodes, query_bundle=query),
                    partial(step.apostprocess_nodes, nodes, query_bundle=query),
                )
            )
        return nodes


def _search(effect: Perform) -> Program[Any]:
    try:
        return (yield from perform(effect))
    except StepFailed as error:
        raise RetrievalFailed(error.reason) from error
