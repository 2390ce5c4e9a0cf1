"""Counting for those who pack by hand: with a tokenizer of their own, else from above."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from typing import Any, NoReturn

from responsa.llms.base import LLM
from responsa.schema.completions import LLMMetadata, Sampling, StreamItem
from responsa.schema.errors import MissingArgument
from responsa.schema.messages import ChatMessage


class HandCounter(LLM):
    """Counts like a model, and does nothing else that a model does.

    Args:
        tokenizer: Turns a text into its tokens; a safe estimate from above when left out.
    """

    def __init__(self, tokenizer: Callable[[str], Sequence[Any]] | None = None) -> None:
        self._tokenizer = tokenizer

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if self._tokenizer is None:
            return super().count_tokens(texts)
        return [len(self._tokenizer(text)) for text in texts]

    @property
    def metadata(self) -> LLMMetadata:
        """There is none."""
        self._refuse()

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        """Answer nothing."""
        self._refuse()

    def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        """Answer nothing."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise MissingArgument("an LLM that answers (llm=...)", "PromptHelper")
