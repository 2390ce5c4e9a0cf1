"""Packing by hand, with the familiar signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from responsa.programs import Count, Program
from responsa.prompts import BasePromptTemplate
from responsa.schema.completions import LLMMetadata
from responsa.schema.errors import InvalidOption, WindowTooSmall
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM
from responsa.tokens.estimate import estimate_tokens

from .cutting import shorten
from .packer import Counted, pack
from .passages import SEPARATOR, Passage

T = TypeVar("T")

_MESSAGE_TOKENS = 8  # what a chat template puts around a message, at most


class PromptHelper:
    """Shares out a window and packs texts into it.

    Args:
        context_window: Tokens of prompt and answer together.
        num_output: Tokens reserved for the answer.
        chunk_size_limit: The most tokens of a pack; None for what the window leaves.
        tokenizer: Turns a text into its tokens; a safe estimate from above when neither it nor an LLM is given.
    """

    def __init__(
        self,
        context_window: int = 4096,
        num_output: int = 256,
        *,
        chunk_size_limit: int | None = None,
        tokenizer: Callable[[str], Sequence[Any]] | None = None,
    ) -> None:
        if num_output >= context_window:
            raise InvalidOption("num_output", num_output, f"fewer tokens than context_window={context_window}")
        self.context_window = context_window
        self.num_output = num_output
        self.chunk_size_limit = chunk_size_limit
        self._tokenizer = tokenizer

    @classmethod
    def from_llm_metadata(
        cls,
        llm_metadata: LLMMetadata,
        *,
        chunk_size_limit: int | None = None,
        tokenizer: Callable[[str], Sequence[Any]] | None = None,
    ) -> PromptHelper:
        """Return the helper for what an LLM says of itself."""
        return cls(
            llm_metadata.context_window,
            llm_metadata.num_output,
            chunk_size_limit=chunk_size_limit,
            tokenizer=tokenizer,
        )

    def repack(
        self, prompt: BasePromptTemplate, text_chunks: Sequence[str], padding: int = 5, llm: LLM | None = None
    ) -> list[str]:
        """Join texts, in their order, into as few as fit `prompt`, cutting only those that are larger than a pack.

        Args:
            prompt: The template they will stand in; its variables count as empty.
            text_chunks: The texts; empty ones are left out.
            padding: Tokens left free in each.
            llm: Whose tokenizer counts.

        Returns:
            The packs' texts, joined by a blank line; one empty text if there are none.

        Raises:
            WindowTooSmall: The template leaves no room.
        """
        counts = self.counter(llm)
        room = self.room(prompt, llm, padding)
        passages = tuple(Passage(0, "", text) for text in text_chunks if text.strip())
        tokens = counts([SEPARATOR, *(passage.text for passage in passages)])
        counted = Counted(passages, tuple(tokens[1:]), tokens[0])
        packs = counting(pack(counted, room), counts)
        return [one.plain() for one in packs] or [""]

    def truncate(
        self, prompt: BasePromptTemplate, text_chunks: Sequence[str], padding: int = 5, llm: LLM | None = None
    ) -> list[str]:
        """Cut each text to its equal share of the room in `prompt`, at a sentence's end; see `repack`."""
        counts = self.counter(llm)
        room = self.room(prompt, llm, padding) // max(len(text_chunks), 1)
        if room < 1:
            raise WindowTooSmall(self.context_window, (("texts", len(text_chunks)),))
        return [counting(shorten(text, room), counts) for text in text_chunks]

    def room(self, prompt: BasePromptTemplate, llm: LLM | None, padding: int) -> int:
        """Return the tokens that `prompt` leaves for context.

        Raises:
            WindowTooSmall: None.
        """
        messages = prompt.format_messages(llm, **dict.fromkeys(prompt.template_vars, ""))
        fixed = llm.count_prompts([messages])[0] if llm is not None else self._prompt_tokens(messages)
        room = self.context_window - self.num_output - fixed - padding
        if self.chunk_size_limit is not None:
            room = min(room, self.chunk_size_limit)
        if room < 1:
            table = (("template", fixed), ("answer", self.num_output), ("padding", padding))
            raise WindowTooSmall(self.context_window, table)
        return room

    def _prompt_tokens(self, messages: Sequence[ChatMessage]) -> int:
        return sum(self.counter(None)([message.content for message in messages])) + _MESSAGE_TOKENS * len(messages)

    def counter(self, llm: LLM | None) -> Callable[[Sequence[str]], list[int]]:
        """Return what counts texts: the helper's own tokenizer, else the LLM's, else a safe estimate."""
        if self._tokenizer is not None:
            tokenizer = self._tokenizer
            return lambda texts: [len(tokenizer(text)) for text in texts]
        if llm is not None:
            return llm.count_tokens
        return lambda texts: [estimate_tokens(text) for text in texts]


def counting(program: Program[T], counts: Callable[[Sequence[str]], list[int]]) -> T:
    """Run a program that does nothing but count."""
    outcomes: list[list[int]] | None = None
    while True:
        try:
            step = program.send(outcomes)  # type: ignore[arg-type]
        except StopIteration as stop:
            result: T = stop.value
            return result
        outcomes = [counts(effect.texts) for effect in step if isinstance(effect, Count)]
