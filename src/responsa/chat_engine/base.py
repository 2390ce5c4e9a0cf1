"""What all chat engines share: the ways to call them, and the turn around an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from typing import Any, ClassVar

from responsa import grounding
from responsa.instrumentation import CallbackManager
from responsa.memory import Memory
from responsa.programs import Program, Recorder, aplan, astream, plan, stream, traced
from responsa.prompts import BasePromptTemplate, LanguageChoice, PromptTemplate, default_prompts, detect_language
from responsa.response_synthesizers import Generation
from responsa.response_synthesizers.question import checked_question
from responsa.response_synthesizers.text_stream import atext_pieces, text_pieces
from responsa.schema.completions import Delta
from responsa.schema.errors import InvalidOption
from responsa.schema.events import Done, Event
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.plans import Plan
from responsa.schema.protocols import LLM
from responsa.schema.response import Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse
from responsa.settings import Settings

from .delivery import Delivered, abroken_off, broken_off, stored_extra
from .rewriting import Rewriter
from .types import ChatMode


class BaseChatEngine(ABC):
    """Answers the messages of one conversation.

    An engine holds one conversation's memory: each conversation needs an engine of its own.

    Args:
        llm: The model that answers; `Settings.llm` when left out.
        memory: The conversation so far; an empty one when left out.
        chat_history: What the memory is to hold instead of what it holds.
        system_prompt: An instruction that stands before everything.
        prefix_messages: Messages that stand before the conversation; not together with `system_prompt`.
        language: The language of prompts and fixed sentences; "auto" is each message's own.
        callback_manager: Whose handlers are told of searches, syntheses and calls.
        llm_kwargs: How answers are generated: `max_tokens`, `temperature`, and whatever the server takes.

    Raises:
        InvalidOption: Both `system_prompt` and `prefix_messages` are given.
    """

    mode: ClassVar[ChatMode]

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        memory: Memory | None = None,
        chat_history: Sequence[ChatMessage] | None = None,
        system_prompt: str | None = None,
        prefix_messages: Sequence[ChatMessage] = (),
        language: LanguageChoice | None = None,
        callback_manager: CallbackManager | None = None,
        llm_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if system_prompt and prefix_messages:
            raise InvalidOption("prefix_messages", "messages", "none beside system_prompt: put the instruction in one")
        self._llm = llm
        self.memory = memory if memory is not None else Memory.from_defaults()
        if chat_history is not None:
            self.memory.set(list(chat_history))
        system = [ChatMessage(MessageRole.SYSTEM, system_prompt)] if system_prompt else []
        self._prefix = (*system, *prefix_messages)
        self._language = language
        self._callback_manager = callback_manager
        self._llm_kwargs = llm_kwargs
        self._talking = Generation(llm, language=language, callback_manager=callback_manager)

    @abstractmethod
    def answer(self, message: str, history: Sequence[ChatMessage]) -> Program[Response]:
        """Return the program that answers a message.

        Args:
            message: What the user says.
            history: What is remembered of the conversation before it; `prefixed` puts what stands before all in front.
        """

    @property
    def llm(self) -> LLM:
        """The model that answers."""
        return self._llm or Settings.needed_llm(type(self).__name__)

    @property
    def concurrency(self) -> int | None:
        """The most calls under way at once; None for the server's slots."""
        return None

    @property
    def chat_history(self) -> list[ChatMessage]:
        """The whole conversation."""
        return self.memory.get_all()

    def reset(self) -> None:
        """Forget the conversation."""
        self.memory.reset()

    def chat(self, message: str, chat_history: Sequence[ChatMessage] | None = None) -> Response:
        """Answer a message.

        Args:
            message: What the user says.
            chat_history: What the memory is to hold instead of what it holds; an empty list clears it.

        Raises:
            ResponsaError: The search failed, or the model could not be asked. The message is kept; the same message
                again is a retry and is not stored twice.
        """
        with closing(self.stream_events(message, chat_history)) as events:
            return _last(events)

    async def achat(self, message: str, chat_history: Sequence[ChatMessage] | None = None) -> Response:
        """Answer a message without blocking; see `chat`."""
        async with aclosing(self.astream_events(message, chat_history)) as events:
            async for event in events:
                if isinstance(event, Done):
                    response: Response = event.response
            return response

    def stream_chat(self, message: str, chat_history: Sequence[ChatMessage] | None = None) -> StreamingResponse:
        """Answer a message in pieces; closing the response keeps what was delivered, marked as interrupted."""
        return StreamingResponse(text_pieces(self.stream_events(message, chat_history)), [])

    async def astream_chat(
        self, message: str, chat_history: Sequence[ChatMessage] | None = None
    ) -> AsyncStreamingResponse:
        """Answer a message in pieces without blocking; see `stream_chat`."""
        return AsyncStreamingResponse(atext_pieces(self.astream_events(message, chat_history)), [])

    def stream_events(
        self, message: str, chat_history: Sequence[ChatMessage] | None = None
    ) -> Generator[Event, None, None]:
        """Answer a message and yield all that happens: the rewrite, plan, sources, text, citations, the response."""
        checked_question(message)
        if chat_history is not None:
            self.memory.set(list(chat_history))
        turn = self.memory.begin_turn(ChatMessage(MessageRole.USER, message))
        try:
            delivered = Delivered()
            program = self._program(message, turn.user.id)
            with closing(grounding.cited(stream(program, self.llm, concurrency=self.concurrency))) as events:
                for event in events:
                    match delivered.after(event):
                        case Done(response):
                            turn.finish(str(response), delivered.reasoning, stored_extra(response))
                        case str(text):
                            turn.replace(text)
                        case Delta(text, reasoning):
                            turn.delta(text, reasoning=reasoning)
                    yield event
        except BaseException as error:
            broken_off(turn, error)
            raise

    async def astream_events(
        self, message: str, chat_history: Sequence[ChatMessage] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer a message without blocking and yield all that happens; see `stream_events`."""
        checked_question(message)
        if chat_history is not None:
            await self.memory.aset(list(chat_history))
        turn = await self.memory.abegin_turn(ChatMessage(MessageRole.USER, message))
        try:
            delivered = Delivered()
            program = self._program(message, turn.user.id)
            async with aclosing(grounding.acited(astream(program, self.llm, concurrency=self.concurrency))) as events:
                async for event in events:
                    match delivered.after(event):
                        case Done(response):
                            await turn.afinish(str(response), delivered.reasoning, stored_extra(response))
                        case str(text):
                            await turn.areplace(text)
                        case Delta(text, reasoning):
                            await turn.adelta(text, reasoning=reasoning)
                    yield event
        except BaseException as error:
            await abroken_off(turn, error)
            raise

    def plan(self, message: str) -> Plan:
        """Return the calls the next message will make, without asking the model.

        The search is made for real. Where the message will be rewritten, it is made with the user's own words, since
        the rewrite is not known: what is found then may fill another number of prompts, which the event `plan` tells
        before they are sent.
        """
        return _bounded(plan(self._program(message), self.llm))

    async def aplan(self, message: str) -> Plan:
        """Return the calls the next message will make, without asking the model and without blocking; see `plan`."""
        return _bounded(await aplan(self._program(message), self.llm))

    def chat_repl(self) -> None:
        """Talk in the terminal until an empty line or the end of input."""
        while message := _typed():
            self.stream_chat(message).print_response_stream()
            print()

    def prefixed(self, history: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """Return a conversation with the system prompt, or the prefix messages, before it."""
        return (*self._prefix, *history)

    def talk(self, message: str, history: Sequence[ChatMessage]) -> Program[Response]:
        """Return the program that answers from the conversation alone."""
        return self._talking.announced(message, [], llm_kwargs=self._llm_kwargs, history=self.prefixed(history))

    def rewriter(self, message: str, template: str | BasePromptTemplate | None) -> Rewriter:
        """Return the rewriter in the message's language."""
        language = self._language or Settings.language
        prompts = default_prompts(detect_language(message) if language == "auto" else language)
        return Rewriter(prompts, PromptTemplate(template) if isinstance(template, str) else template, self.llm)

    def _program(self, message: str, turn: str | None = None) -> Program[Response]:
        """Return the program of a turn: the conversation is recalled, the message answered, and all of it traced.

        Args:
            message: What the user says.
            turn: The identity under which it is stored already; only what came before it is recalled.
        """
        recorder = Recorder()
        response = yield from traced(self._remembering(message, turn), recorder)
        return replace(response, trace=tuple(recorder.calls), warnings=tuple(recorder.notices))

    def _remembering(self, message: str, turn: str | None) -> Program[Response]:
        remembered = yield from self.memory.recall(message, before=turn)
        return (yield from self.answer(message, remembered))


def with_search(response: Response, words: str) -> Response:
    """Return a response that says what the search was made with."""
    return replace(response, searched_with=words)


def _last(events: Iterable[Event]) -> Response:
    for event in events:
        if isinstance(event, Done):
            response: Response = event.response
    return response


def _bounded(made: Plan) -> Plan:
    """Return a plan that is exact only where no answer decides how it goes on."""
    return replace(made, exact=made.exact and len(made.calls) <= 1)


def _typed() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""
