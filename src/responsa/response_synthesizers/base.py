"""What all synthesis modes share: the ways to call them, and the response around their answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from responsa import grounding, programs
from responsa.instrumentation import CBEventType, observed
from responsa.packing.passages import Passage, passages_of, passages_of_messages, passages_of_texts
from responsa.programs import Perform, Program, aplan, dry_run, emit, perform, plan, run, stream
from responsa.schema.errors import InvalidOption, MissingMethod
from responsa.schema.events import Event, PlanMade
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, QueryBundle, TextNode, as_query, as_sources
from responsa.schema.plans import Plan
from responsa.schema.protocols import LLM
from responsa.schema.response import Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse

from .configuration import SynthesizerConfiguration
from .question import checked_question
from .responding import respond, with_coverage
from .task import RESERVED_VARIABLES, Answer, Task, sampling_of
from .text_stream import atext_pieces, text_pieces

Nodes: TypeAlias = Sequence[NodeWithScore | TextNode]


class BaseSynthesizer(SynthesizerConfiguration):
    """A way to make an answer from a question and passages.

    A mode of one's own either writes one `program`, which then runs in every way there is, or overrides
    `get_response` and `aget_response`.

    Args:
        llm: The model that answers; `Settings.llm` when left out, looked up when it is needed.
        streaming: Whether `synthesize` returns a `StreamingResponse`.
        output_cls: A Pydantic model; the response then holds an object of it, streaming gives partial ones.
        prompt_helper: How the window is shared out, in place of what the LLM says of itself.
        chat_prompt_helper: What a picture counts in a prompt; with `multimodal=True` also the window's shares.
        callback_manager: Whose handlers are told of syntheses and calls; `Settings.callback_manager` when left out.
        verbose: Print a line for each of them.
        multimodal: Use the `chat_content_*` templates, where they are given, and require a chat model.
        use_async: Whether calls that do not depend on each other may be under way at once; False makes them one
            after another.
        concurrency: The most calls under way at once; the server's slots when left out.
        language: The language of prompts and fixed sentences; "auto" is the question's own.
        empty_response: What a response without passages prints, in place of the translated sentence.
        think: Whether the model is to reason before it answers: one that reasons by itself is told to, another is
            asked to write its reasoning first. False tells it not to; None leaves it to the model.
        style: For whom, at which length and with which wishes the answer is written.
        output_schema: A JSON schema of the answer, in place of `output_cls`; the response then holds a dictionary.

    Raises:
        UnknownOption: The mode cannot use one of the arguments given.
    """

    needs_passages: ClassVar[bool] = True

    @property
    def llm(self) -> LLM | None:
        """The model that answers; None where the mode needs none and none was given."""
        return self._llm if self._overrides_get_response() else super().llm

    def _overrides_get_response(self) -> bool:
        return type(self).get_response is not BaseSynthesizer.get_response

    def program(self, task: Task) -> Program[Answer | str]:
        """Answer `task`, as a program; what a mode of one's own writes.

        The default calls `get_response` or `aget_response` where a subclass overrides them.
        """
        if not self._overrides_get_response():
            raise MissingMethod("program(task), or get_response and aget_response", type(self).__name__)
        texts = [passage.body for passage in task.passages]
        variables = dict(task.variables)
        answer = yield from perform(
            Perform(
                type(self).__name__,
                lambda: self.get_response(task.query_str, texts, **variables),
                lambda: self._aget_own(task.query_str, texts, variables),
                asks_model=True,
            )
        )
        if isinstance(answer, str):
            return answer
        return Answer(answer.model_dump_json() if hasattr(answer, "model_dump_json") else str(answer), value=answer)

    async def _aget_own(self, query_str: str, texts: Sequence[str], variables: Mapping[str, Any]) -> Any:
        """Call a subclass's `aget_response`, or its `get_response` in a thread where that is all it has."""
        if type(self).aget_response is BaseSynthesizer.aget_response:
            import asyncio

            return await asyncio.to_thread(self.get_response, query_str, texts, **variables)
        return await self.aget_response(query_str, texts, **variables)

    def respond(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        additional_source_nodes: Nodes | None = None,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
        history: Sequence[ChatMessage] = (),
    ) -> Program[Response]:
        """Return the program of the whole response, for use as a part of another program.

        Args:
            query: The question.
            nodes: The passages, best first.
            additional_source_nodes: Passages to list with the sources without showing them to the model.
            llm_kwargs: How the answer is generated.
            variables: Further template variables.
            history: The conversation before the question; its oldest turns give way when the window is short.
        """
        shown = as_sources(nodes)
        sources = [*shown, *as_sources(additional_source_nodes)]
        task = self._task(query, passages_of(shown), llm_kwargs, variables, history)
        return self._observed(respond(self, task, sources), task)

    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        additional_source_nodes: Nodes | None = None,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Response | StreamingResponse:
        """Answer a question from passages.

        Args:
            query: The question.
            nodes: The passages, best first.
            additional_source_nodes: Passages to list with the sources without showing them to the model.
            llm_kwargs: How this answer is generated: `max_tokens`, `temperature`, and whatever the server takes.
            **response_kwargs: Further template variables.

        Returns:
            The response; a `StreamingResponse` if the synthesizer was made with `streaming=True`.

        Raises:
            ResponsaError: The model could not be asked, or the prompt cannot fit.
        """
        program = self.respond(query, nodes, additional_source_nodes, llm_kwargs=llm_kwargs, variables=response_kwargs)
        if self._streaming:
            self.check_streaming()
            events = stream(program, self.llm, concurrency=self.concurrency)
            sources = [*as_sources(nodes), *as_sources(additional_source_nodes)]
            return StreamingResponse(text_pieces(events, self._structure), sources)
        return run(program, self.llm, concurrency=self.concurrency)

    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        additional_source_nodes: Nodes | None = None,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Response | AsyncStreamingResponse:
        """Answer a question from passages without blocking; see `synthesize`."""
        program = self.respond(query, nodes, additional_source_nodes, llm_kwargs=llm_kwargs, variables=response_kwargs)
        if self._streaming:
            self.check_streaming()
            events = programs.astream(program, self.llm, concurrency=self.concurrency)
            sources = [*as_sources(nodes), *as_sources(additional_source_nodes)]
            return AsyncStreamingResponse(atext_pieces(events, self._structure), sources)
        return await programs.arun(program, self.llm, concurrency=self.concurrency)

    def stream_events(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Generator[Event, None, None]:
        """Answer a question and yield all that happens: the plan, the text as it comes, citations, the response."""
        program = self.announced(query, nodes, llm_kwargs=llm_kwargs, variables=response_kwargs)
        return grounding.cited(stream(program, self.llm, concurrency=self.concurrency))

    def astream_events(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> AsyncGenerator[Event, None]:
        """Answer a question without blocking and yield all that happens; see `stream_events`."""
        program = self.announced(query, nodes, llm_kwargs=llm_kwargs, variables=response_kwargs)
        return grounding.acited(programs.astream(program, self.llm, concurrency=self.concurrency))

    def announced(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
        history: Sequence[ChatMessage] = (),
    ) -> Program[Response]:
        """Return the program of the whole response that tells its plan before it runs; see `respond`."""
        nodes = as_sources(nodes)
        task = self._task(query, passages_of(nodes), llm_kwargs, variables, history)
        made = yield from dry_run(respond(self, task, nodes))
        yield from emit(PlanMade(with_coverage(made, nodes, exact=self.exact_plan())))
        return (yield from self._observed(respond(self, task, nodes), task))

    def plan(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Plan:
        """Return the calls `synthesize` will make, without asking the model."""
        nodes = as_sources(nodes)
        task = self._task(query, passages_of(nodes), llm_kwargs, response_kwargs)
        made = plan(respond(self, task, nodes), self.llm)
        return with_coverage(made, nodes, exact=self.exact_plan())

    async def aplan(
        self,
        query: str | QueryBundle,
        nodes: Nodes,
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Plan:
        """Return the calls `asynthesize` will make, without asking the model and without blocking."""
        nodes = as_sources(nodes)
        task = self._task(query, passages_of(nodes), llm_kwargs, response_kwargs)
        made = await aplan(respond(self, task, nodes), self.llm)
        return with_coverage(made, nodes, exact=self.exact_plan())

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        """Answer a question from bare texts; a subclass may override it together with `aget_response`.

        Returns:
            The answer's text, the object with `output_cls`, or a generator of pieces with `streaming=True`.
        """
        return self._get(query_str, passages_of_texts(text_chunks), response_kwargs)

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        """Answer a question from bare texts without blocking; see `get_response`."""
        return await self._aget(query_str, passages_of_texts(text_chunks), response_kwargs)

    def get_response_from_messages(
        self, query_str: str, message_chunks: Sequence[ChatMessage], **response_kwargs: Any
    ) -> Any:
        """Answer a question from messages of text and pictures; see `get_response`."""
        return self._get(query_str, passages_of_messages(message_chunks), response_kwargs)

    async def aget_response_from_messages(
        self, query_str: str, message_chunks: Sequence[ChatMessage], **response_kwargs: Any
    ) -> Any:
        """Answer a question from messages of text and pictures without blocking; see `get_response`."""
        return await self._aget(query_str, passages_of_messages(message_chunks), response_kwargs)

    def check_streaming(self) -> None:
        """Raise StreamingNotSupported where the mode has no single text to stream."""

    def exact_plan(self) -> bool:
        """Tell whether a plan's number of calls is exact, since it does not depend on the answers."""
        return self._structure is None

    def _get(self, query_str: str, passages: Sequence[Passage], variables: Mapping[str, Any]) -> Any:
        task = self._task(query_str, passages, None, variables)
        program = self._observed(respond(self, task, []), task)
        if self._streaming:
            self.check_streaming()
            return text_pieces(stream(program, self.llm, concurrency=self.concurrency), self._structure)
        response = run(program, self.llm, concurrency=self.concurrency)
        return response.text if response.value is None else response.value

    async def _aget(self, query_str: str, passages: Sequence[Passage], variables: Mapping[str, Any]) -> Any:
        task = self._task(query_str, passages, None, variables)
        program = self._observed(respond(self, task, []), task)
        if self._streaming:
            self.check_streaming()
            events = programs.astream(program, self.llm, concurrency=self.concurrency)
            return AsyncStreamingResponse(atext_pieces(events, self._structure), []).async_response_gen()
        response = await programs.arun(program, self.llm, concurrency=self.concurrency)
        return response.text if response.value is None else response.value

    def _observed(self, program: Program[Response], task: Task) -> Program[Response]:
        manager = self._manager()
        return program if manager is None else observed(program, manager, CBEventType.SYNTHESIZE, task.query_str)

    def _task(
        self,
        query: str | QueryBundle,
        passages: Sequence[Passage],
        llm_kwargs: Mapping[str, Any] | None,
        variables: Mapping[str, Any] | None,
        history: Sequence[ChatMessage] = (),
    ) -> Task:
        question = checked_question(as_query(query).query_str)
        for name in RESERVED_VARIABLES.intersection(variables or ()):
            raise InvalidOption(name, "a variable of yours", "another name, as the mode fills it in itself")
        return Task(
            question,
            tuple(passages),
            self._defaults(question),
            sampling_of(llm_kwargs),
            dict(variables or {}),
            self._llm,
            tuple(history),
        )
