"""The base of every LLM: the seam the engine uses, and the calls people make themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import fields
from typing import Any, Final

from ..prompts.templates import BasePromptTemplate
from ..schema.completions import Completion, Delta, LLMMetadata, Sampling, StreamItem
from ..schema.errors import UnknownOption
from ..schema.messages import ChatMessage, MessageRole
from ..tokens.estimate import TOKENS_A_MESSAGE, TOKENS_A_TEMPLATE, estimate_tokens
from .folding import CompletionBuilder
from .prompt_text import messages_to_prompt
from .responses import (
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    TextSoFar,
    thinking,
)
from .structured_predict import Object, predicting

SAMPLING_OPTIONS: Final = tuple(field.name for field in fields(Sampling))


def sampling_from(owner: str, options: dict[str, Any]) -> Sampling:
    """Make a `Sampling` of keywords; raises `UnknownOption` for one it does not have."""
    for name in options:
        if name not in SAMPLING_OPTIONS:
            raise UnknownOption(name, owner, SAMPLING_OPTIONS)
    if isinstance(options.get("stop"), str):
        options = {**options, "stop": (options["stop"],)}
    elif options.get("stop") is not None:
        options = {**options, "stop": tuple(options["stop"])}
    return Sampling(**options)


class LLM(ABC):
    """A model that answers. A subclass gives `metadata`, `stream` and `astream`; the rest follows from them.

    The keywords of `complete`, `chat` and their twins are the fields of `Sampling`: `max_tokens`, `temperature`,
    `top_p`, `stop`, `seed`, `output_schema`, `extra`.
    """

    @property
    @abstractmethod
    def metadata(self) -> LLMMetadata:
        """What the engine must know of the model."""

    @abstractmethod
    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Yield the answer's `Delta`s and then one `Finish`; closing the generator cancels the request."""

    @abstractmethod
    def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Yield the answer's pieces without blocking; else as `stream`."""

    async def ametadata(self) -> LLMMetadata:
        """Return `metadata` without blocking."""
        return self.metadata

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as it stands inside a prompt."""
        return [estimate_tokens(text) for text in texts]

    async def acount_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text without blocking."""
        return self.count_tokens(texts)

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Return the tokens of each prompt whole, with what the chat template adds."""
        return _with_template(prompts, self.count_tokens([messages_to_prompt(messages) for messages in prompts]))

    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Return the tokens of each prompt without blocking."""
        counts = await self.acount_tokens([messages_to_prompt(messages) for messages in prompts])
        return _with_template(prompts, counts)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the answer to a prompt.

        Args:
            prompt: The prompt.
            formatted: Accepted for LlamaIndex's sake; the prompt is sent as it is either way.
            kwargs: Fields of `Sampling`.
        """
        completion = self._whole(_of_prompt(prompt), sampling_from("complete", kwargs))
        return CompletionResponse(completion.text, raw=completion)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """Return the answer to a prompt without blocking."""
        completion = await self._awhole(_of_prompt(prompt), sampling_from("acomplete", kwargs))
        return CompletionResponse(completion.text, raw=completion)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the answer to messages."""
        completion = self._whole(messages, sampling_from("chat", kwargs))
        return ChatResponse(ChatMessage(MessageRole.ASSISTANT, completion.text), raw=completion)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """Return the answer to messages without blocking."""
        completion = await self._awhole(messages, sampling_from("achat", kwargs))
        return ChatResponse(ChatMessage(MessageRole.ASSISTANT, completion.text), raw=completion)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """Return a stream of the answer to a prompt; closing it cancels the request."""
        return self._completion_steps(_of_prompt(prompt), sampling_from("stream_complete", kwargs))

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """Return a stream of the answer to a prompt without blocking; closing it cancels the request."""
        return self._acompletion_steps(_of_prompt(prompt), sampling_from("astream_complete", kwargs))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """Return a stream of the answer to messages; closing it cancels the request."""
        return self._chat_steps(messages, sampling_from("stream_chat", kwargs))

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """Return a stream of the answer to messages without blocking; closing it cancels the request."""
        return self._achat_steps(messages, sampling_from("astream_chat", kwargs))

    def predict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Return the answer's text to a template filled with `prompt_args`."""
        return self._whole(prompt.format_messages(llm=self, **prompt_args), Sampling()).text

    async def apredict(self, prompt: BasePromptTemplate, **prompt_args: Any) -> str:
        """Return the answer's text to a filled template without blocking."""
        return (await self._awhole(prompt.format_messages(llm=self, **prompt_args), Sampling())).text

    def structured_predict(
        self,
        output_cls: type[Object],
        prompt: BasePromptTemplate,
        llm_kwargs: Mapping[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Object:
        """Return an object of `output_cls`, a pydantic model, from the answer to a filled template.

        Args:
            output_cls: The object's class.
            prompt: The template.
            llm_kwargs: Fields of `Sampling`.
            prompt_args: The template's values.

        Raises:
            StructuredOutputFailed: The answer was cut, or is not of the form even after one correction.
        """
        messages = prompt.format_messages(llm=self, **prompt_args)
        steps = predicting(output_cls, messages, sampling_from("structured_predict", dict(llm_kwargs or {})))
        question = next(steps)
        while True:
            try:
                question = steps.send(self._whole(*question))
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]

    async def astructured_predict(
        self,
        output_cls: type[Object],
        prompt: BasePromptTemplate,
        llm_kwargs: Mapping[str, Any] | None = None,
        **prompt_args: Any,
    ) -> Object:
        """Return an object from the answer to a filled template without blocking; else as `structured_predict`."""
        messages = prompt.format_messages(llm=self, **prompt_args)
        steps = predicting(output_cls, messages, sampling_from("astructured_predict", dict(llm_kwargs or {})))
        question = next(steps)
        while True:
            try:
                question = steps.send(await self._awhole(*question))
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]

    def _whole(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Completion:
        builder = CompletionBuilder()
        with closing(self.stream(messages, sampling)) as items:
            for item in items:
                builder.add(item)
        return builder.build()

    async def _awhole(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Completion:
        builder = CompletionBuilder()
        async with aclosing(self.astream(messages, sampling)) as items:
            async for item in items:
                builder.add(item)
        return builder.build()

    def _completion_steps(self, messages: Sequence[ChatMessage], sampling: Sampling) -> CompletionResponseGen:
        builder = CompletionBuilder()
        with closing(self.stream(messages, sampling)) as items:
            for item in items:
                builder.add(item)
                yield _completion_step(item, builder)

    async def _acompletion_steps(
        self, messages: Sequence[ChatMessage], sampling: Sampling
    ) -> CompletionResponseAsyncGen:
        builder = CompletionBuilder()
        async with aclosing(self.astream(messages, sampling)) as items:
            async for item in items:
                builder.add(item)
                yield _completion_step(item, builder)

    def _chat_steps(self, messages: Sequence[ChatMessage], sampling: Sampling) -> ChatResponseGen:
        builder = CompletionBuilder()
        with closing(self.stream(messages, sampling)) as items:
            for item in items:
                builder.add(item)
                yield _chat_step(item, builder)

    async def _achat_steps(self, messages: Sequence[ChatMessage], sampling: Sampling) -> ChatResponseAsyncGen:
        builder = CompletionBuilder()
        async with aclosing(self.astream(messages, sampling)) as items:
            async for item in items:
                builder.add(item)
                yield _chat_step(item, builder)


def _with_template(prompts: Sequence[Sequence[ChatMessage]], counts: Sequence[int]) -> list[int]:
    return [
        count + TOKENS_A_TEMPLATE + TOKENS_A_MESSAGE * len(messages)
        for count, messages in zip(counts, prompts, strict=True)
    ]


def _of_prompt(prompt: str) -> list[ChatMessage]:
    return [ChatMessage(MessageRole.USER, prompt)]


def _completion_step(item: StreamItem, builder: CompletionBuilder) -> CompletionResponse:
    text = TextSoFar(builder.texts, len(builder.texts))
    if isinstance(item, Delta):
        return CompletionResponse(text, item.text, additional_kwargs=thinking(item))
    return CompletionResponse(text, "", raw=builder.build())


def _chat_step(item: StreamItem, builder: CompletionBuilder) -> ChatResponse:
    text = TextSoFar(builder.texts, len(builder.texts))
    if isinstance(item, Delta):
        return ChatResponse(text, item.text, additional_kwargs=thinking(item))
    return ChatResponse(text, "", raw=builder.build())
