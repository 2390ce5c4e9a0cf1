"""Who counts the tokens where the model that answers does not run the program."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence, Sized
from typing import TypeAlias

from responsa.schema.completions import LLMMetadata, Sampling, StreamItem
from responsa.schema.errors import MissingPart
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM
from responsa.tokens.estimate import estimate_tokens

Tokenizer: TypeAlias = Callable[[str], Sized]


class Counter:
    """An LLM of which only the token counts are sure to be there.

    Args:
        tokenizer_fn: Turns a text into its tokens; counts are estimated from above when left out.
        llm: Who answers calls; without one they raise MissingPart.
    """

    def __init__(self, tokenizer_fn: Tokenizer | None = None, llm: LLM | None = None) -> None:
        self._tokenizer_fn = tokenizer_fn
        self._llm = llm

    @property
    def metadata(self) -> LLMMetadata:
        return self._needed().metadata

    async def ametadata(self) -> LLMMetadata:
        return await self._needed().ametadata()

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        return self._needed().stream(messages, sampling)

    def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        return self._needed().astream(messages, sampling)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if self._tokenizer_fn is None:
            return [estimate_tokens(text) for text in texts]
        return [len(self._tokenizer_fn(text)) for text in texts]

    async def acount_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.count_tokens(texts)

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        return self._needed().count_prompts(prompts)

    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        return await self._needed().acount_prompts(prompts)

    def _needed(self) -> LLM:
        if self._llm is None:
            raise MissingPart("an LLM (llm=...)", "the memory's blocks")
        return self._llm
