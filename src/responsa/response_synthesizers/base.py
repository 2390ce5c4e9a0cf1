"""What all synthesis modes share: the ways to call them, and the response around their answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypedDict

from responsa import grounding
from responsa.instrumentation import CallbackManager, CBEventType, PrintHandler, observed
from responsa.packing.budget import MARGIN, MIN_ROOM, wanted_output
from responsa.packing.chat_prompt_helper import ChatPromptHelper
from responsa.packing.fitting import Messages
from responsa.packing.history import fit_history
from responsa.packing.passages import Passage, passages_of, passages_of_messages, passages_of_texts
from responsa.packing.prompt_helper import PromptHelper
from responsa.programs import (
    Perform,
    Program,
    aplan,
    arun,
    astream,
    describe,
    dry_run,
    emit,
    measure,
    perform,
    plan,
    run,
    stream,
)
from responsa.prompts import BasePromptTemplate, default_prompts, detect_language
from responsa.schema.completions import LLMMetadata
from responsa.schema.errors import InvalidOption, MissingPart, UnknownOption
from responsa.schema.events import Event, PlanMade
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, QueryBundle, as_query
from responsa.schema.plans import Plan
from responsa.schema.protocols import LLM
from responsa.schema.response import AsyncStreamingResponse, Response, StreamingResponse
from responsa.settings import Settings

from .question import checked_question
from .responding import respond, with_coverage
from .structure import ObjectStructure
from .task import Answer, Task, sampling_of
from .text_stream import atext_pieces, text_pieces

if TYPE_CHECKING:
    from pydantic import BaseModel


CHAT_TWINS: Final = {
    "text_qa_template": "chat_content_qa_template",
    "refine_template": "chat_content_refine_template",
    "summary_template": "chat_summary_template",
    "simple_template": "",
}


class SynthesizerOptions(TypedDict, total=False):
    """The keywords that every mode takes; see `BaseSynthesizer`."""

    streaming: bool
    output_cls: type[BaseModel] | None
    prompt_helper: PromptHelper | None
    chat_prompt_helper: ChatPromptHelper | None
    callback_manager: CallbackManager | None
    verbose: bool
    multimodal: bool
    use_async: bool | None
    concurrency: int | None
    language: Literal["auto", "en", "zh"] | None
    empty_response: str | None


class BaseSynthesizer:
    """A way to make an answer from a question and passages.

    A mode of one's own either writes one `program`, which then runs in every way there is, or overrides
    `get_response` and `aget_response`.

    Args:
        llm: The model that answers; `Settings.llm` when left out, looked up when first needed.
        streaming: Whether `synthesize` returns a `StreamingResponse`.
        output_cls: A Pydantic model; the response then holds an object of it, streaming gives partial ones.
        prompt_helper: How the window is shared out, in place of what the LLM says of itself.
        chat_prompt_helper: What a picture counts in a prompt, and the window's shares as with `prompt_helper`.
        callback_manager: Whose handlers are told of syntheses and calls; `Settings.callback_manager` when left out.
        verbose: Print a line for each of them.
        multimodal: Use the `chat_content_*` templates, where they are given, and require a chat model.
        use_async: False makes calls one after another; else `concurrency` of them are under way at once.
        concurrency: The most calls under way at once; the server's slots when left out.
        language: The language of prompts and fixed sentences; "auto" is the question's own.
        empty_response: What a response without passages prints, in place of the translated sentence.
    """

    mode: ClassVar[str] = "custom"
    needs_llm: ClassVar[bool] = True
    needs_passages: ClassVar[bool] = True

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        streaming: bool = False,
        output_cls: type[BaseModel] | None = None,
        prompt_helper: PromptHelper | None = None,
        chat_prompt_helper: ChatPromptHelper | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        multimodal: bool = False,
        use_async: bool | None = None,
        concurrency: int | None = None,
        language: Literal["auto", "en", "zh"] | None = None,
        empty_response: str | None = None,
    ) -> None:
        if concurrency is not None and concurrency < 1:
            raise InvalidOption("concurrency", concurrency, "a number of calls from 1")
        self._llm = llm
        self._streaming = streaming
        self._structure = ObjectStructure(output_cls) if output_cls is not None else None
        self._prompt_helper = prompt_helper or chat_prompt_helper
        self._image_tokens = (chat_prompt_helper or ChatPromptHelper()).image_tokens
        self.concurrency = 1 if use_async is False else concurrency
        self._callback_manager = callback_manager
        self._verbose = verbose
        self._multimodal = multimodal
        self._language = language
        self._empty_response = empty_response
        self._prompts: dict[str, BasePromptTemplate | None] = {}

    @property
    def llm(self) -> LLM | None:
        """The model that answers; None where the mode needs none and none was given."""
        if self._llm is not None or not self.needs_llm:
            return self._llm
        return Settings.needed_llm(type(self).__name__)

    def program(self, task: Task) -> Program[Answer | str]:
        """Answer `task`, as a program; what a mode of one's own writes.

        The default calls `get_response` or `aget_response` where a subclass overrides them.
        """
        if type(self).get_response is BaseSynthesizer.get_response:
            raise MissingPart("a program(task), or get_response and aget_response", type(self).__name__)
        texts = [passage.body for passage in task.passages]
        variables = dict(task.variables)
        answer = yield from perform(
            Perform(
                type(self).__name__,
                lambda: self.get_response(task.query_str, texts, **variables),
                lambda: self.aget_response(task.query_str, texts, **variables),
                asks_model=True,
            )
        )
        return answer if isinstance(answer, str) else Answer(str(answer), value=answer)

    def respond(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] = (),
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
        sources = [*nodes, *additional_source_nodes]
        task = replace(self._task(query, passages_of(nodes), llm_kwargs, variables), history=tuple(history))
        return self._observed(respond(self, task, sources, self._empty_response), task)

    def synthesize(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] = (),
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
            return StreamingResponse(text_pieces(events, self._structure), [*nodes, *additional_source_nodes])
        return run(program, self.llm, concurrency=self.concurrency)

    async def asynthesize(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] = (),
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Response | AsyncStreamingResponse:
        """Answer a question from passages without blocking; see `synthesize`."""
        program = self.respond(query, nodes, additional_source_nodes, llm_kwargs=llm_kwargs, variables=response_kwargs)
        if self._streaming:
            self.check_streaming()
            events = astream(program, self.llm, concurrency=self.concurrency)
            return AsyncStreamingResponse(atext_pieces(events, self._structure), [*nodes, *additional_source_nodes])
        return await arun(program, self.llm, concurrency=self.concurrency)

    def stream_events(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
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
        nodes: Sequence[NodeWithScore],
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> AsyncGenerator[Event, None]:
        """Answer a question without blocking and yield all that happens; see `stream_events`."""
        program = self.announced(query, nodes, llm_kwargs=llm_kwargs, variables=response_kwargs)
        return grounding.acited(astream(program, self.llm, concurrency=self.concurrency))

    def announced(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        variables: Mapping[str, Any] | None = None,
        history: Sequence[ChatMessage] = (),
    ) -> Program[Response]:
        """Return the program of the whole response that tells its plan before it runs; see `respond`."""
        task = replace(self._task(query, passages_of(nodes), llm_kwargs, variables), history=tuple(history))
        made = yield from dry_run(respond(self, task, nodes, self._empty_response))
        yield from emit(PlanMade(with_coverage(made, nodes, exact=self.exact_plan())))
        return (yield from self.respond(query, nodes, llm_kwargs=llm_kwargs, variables=variables, history=history))

    def plan(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Plan:
        """Return the calls `synthesize` will make, without asking the model."""
        task = self._task(query, passages_of(nodes), llm_kwargs, response_kwargs)
        made = plan(respond(self, task, nodes, self._empty_response), self.llm)
        return with_coverage(made, nodes, exact=self.exact_plan())

    async def aplan(
        self,
        query: str | QueryBundle,
        nodes: Sequence[NodeWithScore],
        *,
        llm_kwargs: Mapping[str, Any] | None = None,
        **response_kwargs: Any,
    ) -> Plan:
        """Return the calls `asynthesize` will make, without asking the model and without blocking."""
        task = self._task(query, passages_of(nodes), llm_kwargs, response_kwargs)
        made = await aplan(respond(self, task, nodes, self._empty_response), self.llm)
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

    def get_prompts(self) -> dict[str, BasePromptTemplate | None]:
        """Return the mode's templates by name; None stands for the default of the question's language."""
        return dict(self._prompts)

    def update_prompts(self, prompts_dict: Mapping[str, BasePromptTemplate]) -> None:
        """Replace templates by name.

        Raises:
            UnknownOption: The mode has no template of that name.
        """
        for name in prompts_dict:
            if name not in self._prompts:
                raise UnknownOption(name, type(self).__name__, tuple(self._prompts))
        self._prompts.update(prompts_dict)

    def _template(self, name: str, default: BasePromptTemplate) -> BasePromptTemplate:
        """Return the template given under `name`, or its twin for messages where those are asked for."""
        twin = self._prompts.get(CHAT_TWINS[name]) if self._multimodal else None
        return twin or self._prompts[name] or default

    def _fit_history(self, task: Task, build: Callable[[Task], Messages], limits: LLMMetadata) -> Program[Task]:
        """Return the task with as many of the newest turns as leave a quarter of the window for context."""
        if not task.history:
            return task
        (fixed,) = yield from measure([build(replace(task, history=()))])
        context = max(MIN_ROOM, limits.context_window // 4) if task.passages else 0
        room = limits.context_window - fixed - wanted_output(limits, task.sampling) - context - MARGIN
        return replace(task, history=(yield from fit_history(task.history, room)))

    def _limits(self) -> Program[LLMMetadata]:
        """Return what the LLM is, with the window and output of a prompt helper where one was given."""
        metadata = yield from describe()
        if self._multimodal and not metadata.is_chat_model:
            raise InvalidOption("multimodal", True, "an LLM that takes messages (is_chat_model=True)")
        helper: PromptHelper | ChatPromptHelper | None = self._prompt_helper or Settings.prompt_helper
        if helper is None:
            return metadata
        window = min(helper.context_window, metadata.context_window)
        return replace(metadata, context_window=window, num_output=helper.num_output)

    def _get(self, query_str: str, passages: Sequence[Passage], variables: Mapping[str, Any]) -> Any:
        task = self._task(query_str, passages, None, variables)
        program = self._observed(respond(self, task, [], self._empty_response), task)
        if self._streaming:
            self.check_streaming()
            return text_pieces(stream(program, self.llm, concurrency=self.concurrency), self._structure)
        response = run(program, self.llm, concurrency=self.concurrency)
        return response.text if response.value is None else response.value

    async def _aget(self, query_str: str, passages: Sequence[Passage], variables: Mapping[str, Any]) -> Any:
        task = self._task(query_str, passages, None, variables)
        program = self._observed(respond(self, task, [], self._empty_response), task)
        if self._streaming:
            self.check_streaming()
            events = astream(program, self.llm, concurrency=self.concurrency)
            return AsyncStreamingResponse(atext_pieces(events, self._structure), []).async_response_gen()
        response = await arun(program, self.llm, concurrency=self.concurrency)
        return response.text if response.value is None else response.value

    def _observed(self, program: Program[Response], task: Task) -> Program[Response]:
        manager: CallbackManager | None = self._callback_manager or Settings.callback_manager
        if self._verbose:
            manager = CallbackManager([*(manager.handlers if manager else ()), PrintHandler()])
        if manager is None:
            return program
        return observed(program, manager, CBEventType.SYNTHESIZE, task.query_str)

    def _task(
        self,
        query: str | QueryBundle,
        passages: Sequence[Passage],
        llm_kwargs: Mapping[str, Any] | None,
        variables: Mapping[str, Any] | None,
    ) -> Task:
        question = checked_question(as_query(query).query_str)
        language = self._language or Settings.language
        prompts = default_prompts(detect_language(question) if language == "auto" else language)
        return Task(question, tuple(passages), prompts, sampling_of(llm_kwargs), dict(variables or {}), self._llm)
