"""A model whose answers are written down beforehand: for tests of programs, without a server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from responsa.llms.base import LLM
from responsa.schema.completions import Delta, Finish, LLMMetadata, Sampling, StreamItem, Usage
from responsa.schema.errors import ContextWindowExceeded
from responsa.schema.messages import ChatMessage, ImageBlock

Answer: TypeAlias = str | Exception
Script: TypeAlias = Callable[[Sequence[ChatMessage]], Answer] | Iterable[Answer] | Answer

_TOKEN: Final = re.compile(r"[A-Za-z0-9]+|\s+|[^A-Za-z0-9\s]")
_MESSAGE_TOKENS: Final = 4


class ScriptedLLM(LLM):
    """An LLM that gives the answers it was told to, in pieces, and refuses prompts larger than its window.

    Args:
        script: One answer for every call; answers in turn (the last one repeats); or a function from the messages to
            the answer. An exception is raised instead of given.
        context_window: Tokens of prompt and answer together.
        num_output: Tokens reserved for an answer when a call does not say.
        slots: Calls it works on at a time.
        reasoning: What it gives as reasoning before each answer.

    Attributes:
        prompts: The messages of every call so far.
        samplings: How each was to be generated.
        under_way: Calls being answered now.
        peak: The most calls that were being answered at once.
        closed: Calls whose stream was closed before its end.
    """

    def __init__(
        self,
        script: Script = "An answer.",
        *,
        context_window: int = 4096,
        num_output: int = 256,
        slots: int = 1,
        reasoning: str = "",
    ) -> None:
        self._script = script if callable(script) or isinstance(script, str | Exception) else list(script)
        self._metadata = LLMMetadata(context_window, num_output, model_name="scripted", slots=slots, exact_counts=True)
        self._reasoning = reasoning
        self.prompts: list[tuple[ChatMessage, ...]] = []
        self.samplings: list[Sampling] = []
        self.under_way = 0
        self.peak = 0
        self.closed = 0

    @property
    def metadata(self) -> LLMMetadata:
        """What this model is."""
        return self._metadata

    def with_window(self, context_window: int) -> ScriptedLLM:
        """Return a fresh model with the same script and another window."""
        script = self._script if not isinstance(self._script, list) else list(self._script)
        copy = ScriptedLLM(script, reasoning=self._reasoning)
        copy._metadata = replace(self._metadata, context_window=context_window)
        return copy

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Give the next answer in pieces."""
        items = self._begin(messages, sampling)
        try:
            yield from items
        except GeneratorExit:
            self.closed += 1
            raise
        finally:
            self.under_way -= 1

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Give the next answer in pieces, letting others run between them."""
        items = self._begin(messages, sampling)
        try:
            for item in items:
                await asyncio.sleep(0)
                yield item
        except (GeneratorExit, asyncio.CancelledError):
            self.closed += 1
            raise
        finally:
            self.under_way -= 1

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count words, runs of white space, and other characters one by one."""
        return [sum(1 for _ in _TOKEN.finditer(text)) for text in texts]

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Count the messages' tokens and four for each message; an image counts 64."""
        return [
            sum(
                _MESSAGE_TOKENS
                + self.count_tokens([message.content])[0]
                + 64 * sum(isinstance(block, ImageBlock) for block in message.blocks)
                for message in prompt
            )
            for prompt in prompts
        ]

    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        """Count as `count_prompts` does."""
        return self.count_prompts(prompts)

    def _begin(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        answer = self._next(messages)
        self.prompts.append(tuple(messages))
        self.samplings.append(sampling)
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        return self._items(messages, sampling, answer)

    def _next(self, messages: Sequence[ChatMessage]) -> Answer:
        if callable(self._script):
            return self._script(messages)
        if isinstance(self._script, list):
            return self._script[min(len(self.prompts), len(self._script) - 1)]
        return self._script

    def _items(
        self, messages: Sequence[ChatMessage], sampling: Sampling, answer: Answer
    ) -> Generator[StreamItem, None, None]:
        prompt_tokens = self.count_prompts([messages])[0]
        window = self._metadata.context_window
        if prompt_tokens >= window:
            raise ContextWindowExceeded("scripted", prompt_tokens, window)
        if isinstance(answer, Exception):
            raise answer
        if self._reasoning:
            yield Delta(reasoning=self._reasoning)
        limit = min(sampling.max_tokens or window, window - prompt_tokens)
        pieces = [match[0] for match in _TOKEN.finditer(answer)]
        for piece in pieces[:limit]:
            yield Delta(piece)
        reason = "length" if len(pieces) > limit else "stop"
        yield Finish(reason, Usage(prompt_tokens, min(len(pieces), limit), 0), model="scripted")
