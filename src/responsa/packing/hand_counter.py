"""Counting where no model runs the program: with a tokenizer of one's own, else from above."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from typing import TYPE_CHECKING

from responsa.llms.base import LLM
from responsa.schema import protocols
from responsa.schema.completions import LLMMetadata, Sampling, StreamItem
from responsa.schema.errors import MissingArgument
from responsa.schema.messages import ChatMessage

if TYPE_CHECKING:
    from .prompt_helper import Tokenizer


class HandCounter(LLM):
    """Counts texts like a model; what else a model does, it leaves to one, if it has one.

    Args:
        tokenizer: Turns a text into its tokens; a safe estimate from above when left out.
        llm: Who does the rest; without one it raises MissingArgument.
        owner: What needs the counts, for that error.
    """

    def __init__(self, tokenizer: Tokenizer | None = None, llm: protocols.LLM | None = None, *, owner: str) -> None:
        self._tokenizer = tokenizer
        self._llm = llm
        self._owner = owner

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if self._tokenizer is None:
            return super().count_tokens(texts)
        return [len(self._tokenizer(text)) for text in texts]

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        return super().count_prompts(prompts) if self._llm is None else self._llm.count_prompts(prompts)

    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        return await (super().acount_prompts(prompts) if self._llm is None else self._llm.acount_prompts(prompts))

    @property
    def metadata(self) -> LLMMetadata:
        """That of the model it has."""
        return self._needed().metadata

    async def ametadata(self) -> LLMMetadata:
        return await self._needed().ametadata()

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Answer with the model it has."""
        return self._needed().stream(messages, sampling)

    def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Answer with the model it has, without blocking."""
        return self._needed().astream(messages, sampling)

    def _needed(self) -> protocols.LLM:
        if self._llm is None:
            raise MissingArgument("an LLM that answers (llm=...)", self._owner)
        return self._llm
