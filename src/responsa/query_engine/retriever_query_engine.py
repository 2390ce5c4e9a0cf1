"""Retrieve, postprocess, synthesize: one program."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from functools import partial
from typing import Any, Self, Unpack

from responsa import grounding
from responsa.instrumentation import CallbackManager, watched
from responsa.programs import Perform, Program, arun, astream, perform, run, stream
from responsa.prompts.mixin import PromptMixin
from responsa.response_synthesizers import BaseSynthesizer, CompactAndRefine, get_response_synthesizer
from responsa.response_synthesizers.options import SynthesisOptions
from responsa.response_synthesizers.question import checked_question
from responsa.schema.errors import RetrievalFailed, StepFailed, UnknownOption
from responsa.schema.events import Event
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, QueryBundle, as_query
from responsa.schema.plans import Plan
from responsa.schema.protocols import LLM, Postprocessor, Retriever
from responsa.schema.response import Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse
from responsa.settings import Settings


class RetrieverQueryEngine(PromptMixin):
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

    @classmethod
    def from_args(
        cls,
        retriever: Retriever,
        llm: LLM | None = None,
        *,
        response_synthesizer: BaseSynthesizer | None = None,
        node_postprocessors: Sequence[Postprocessor] | None = None,
        **synthesis: Unpack[SynthesisOptions],
    ) -> Self:
        """Return the engine over a retriever.

        Args:
            retriever: Finds the passages.
            llm: The model that answers; `Settings.llm` when left out.
            response_synthesizer: Makes the answer; or
            **synthesis: what makes one, as `get_response_synthesizer` takes it: `response_mode`, templates, ...
            node_postprocessors: Filter, reorder or rescore what was found, in this order.

        Raises:
            UnknownOption: A synthesizer was given, and besides what it has its own of.
        """
        manager = synthesis.get("callback_manager")
        if response_synthesizer is None:
            response_synthesizer = get_response_synthesizer(llm, **synthesis)
        else:
            given = {"llm": llm, **synthesis, "callback_manager": None}
            for name in (name for name, value in given.items() if value is not None):
                raise UnknownOption(name, "an engine with a response_synthesizer", ("callback_manager",))
        return cls(retriever, response_synthesizer, tuple(node_postprocessors or ()), callback_manager=manager)

    def with_retriever(self, retriever: Retriever) -> RetrieverQueryEngine:
        """Return the same engine over another retriever."""
        return RetrieverQueryEngine(
            retriever, self.synthesizer, self.node_postprocessors, callback_manager=self._callback_manager
        )

    def _get_prompt_modules(self) -> Mapping[str, PromptMixin]:
        return {"response_synthesizer": self.synthesizer}

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

    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> Response | StreamingResponse:
        """Answer a question from passages that were found already."""
        return self.synthesizer.synthesize(query, nodes, additional_source_nodes)

    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
    ) -> Response | AsyncStreamingResponse:
        """Answer a question from passages that were found already, without blocking."""
        return await self.synthesizer.asynthesize(query, nodes, additional_source_nodes)

    def respond(
        self,
        query: str | QueryBundle,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        history: Sequence[ChatMessage] = (),
    ) -> Program[Response]:
        """Return the program of the whole response, its plan told before it runs.

        Args:
            query: The question.
            llm_kwargs: How the answer is generated.
            history: What is said before the question; its oldest turns give way when the window is short.
        """
        nodes = yield from self.find(as_query(query))
        return (yield from self.synthesizer.announced(query, nodes, llm_kwargs=llm_kwargs, history=history))

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
            Perform(
                "retrieve",
                partial(self.retriever.retrieve, query),
                partial(self.retriever.aretrieve, query),
                finds_passages=True,
            )
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
