"""Packing by hand, with the familiar signatures."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import TypeAlias

from responsa.programs import Program, count, measure, run
from responsa.prompts import BasePromptTemplate
from responsa.schema.completions import LLMMetadata
from responsa.schema.errors import InvalidOption, WindowTooSmall
from responsa.schema.protocols import LLM

from .cutting import shorten
from .packer import Around, Counted, pack
from .passages import SEPARATOR, Passage

Tokenizer: TypeAlias = Callable[[str], Sized]


class PromptHelper:
    """Shares out a window and packs texts into it.

    Args:
        context_window: Tokens of prompt and answer together.
        num_output: Tokens reserved for the answer.
        chunk_overlap_ratio: Of a text that is larger than a pack, how much of each piece, from 0 to under 1, the next
            one repeats at most; whole sentences are repeated. Texts that fit are never cut and never repeated.
        chunk_size_limit: The most tokens of a pack; None for what the window leaves.
        tokenizer: Turns a text into its tokens; the LLM counts when left out, and where there is none, a safe estimate
            from above. In a synthesizer the LLM counts in any case, since its window is to be kept.
    """

    def __init__(
        self,
        context_window: int = 4096,
        num_output: int = 256,
        chunk_overlap_ratio: float = 0.0,
        chunk_size_limit: int | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        if num_output >= context_window:
            raise InvalidOption("num_output", num_output, f"fewer tokens than context_window={context_window}")
        if not 0 <= chunk_overlap_ratio < 1:
            raise InvalidOption("chunk_overlap_ratio", chunk_overlap_ratio, "a share from 0 to under 1")
        if chunk_size_limit is not None and chunk_size_limit < 1:
            raise InvalidOption("chunk_size_limit", chunk_size_limit, "a number of tokens from 1")
        self.context_window = context_window
        self.num_output = num_output
        self.chunk_overlap_ratio = chunk_overlap_ratio
        self.chunk_size_limit = chunk_size_limit
        self._tokenizer = tokenizer

    @classmethod
    def from_llm_metadata(
        cls,
        llm_metadata: LLMMetadata,
        chunk_overlap_ratio: float = 0.0,
        chunk_size_limit: int | None = None,
        tokenizer: Tokenizer | None = None,
    ) -> PromptHelper:
        """Return the helper for what an LLM says of itself."""
        window, output = llm_metadata.context_window, llm_metadata.num_output
        return cls(window, output, chunk_overlap_ratio, chunk_size_limit, tokenizer)

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
        return run(self._repacked(prompt, text_chunks, padding, llm), self.counter(llm))

    def truncate(
        self, prompt: BasePromptTemplate, text_chunks: Sequence[str], padding: int = 5, llm: LLM | None = None
    ) -> list[str]:
        """Cut each text to its equal share of the room in `prompt`, at a sentence's end; see `repack`."""
        return run(self._truncated(prompt, text_chunks, padding, llm), self.counter(llm))

    def room(self, prompt: BasePromptTemplate, padding: int, llm: LLM | None) -> Program[int]:
        """Return the tokens that `prompt` leaves for context.

        Raises:
            WindowTooSmall: It leaves none.
        """
        messages = prompt.format_messages(llm, **dict.fromkeys(prompt.template_vars, ""))
        (fixed,) = yield from measure([tuple(messages)])
        room = self.context_window - self.num_output - fixed - padding
        if room < 1:
            table = (("template", fixed), ("answer", self.num_output), ("padding", padding))
            raise WindowTooSmall(self.context_window, table)
        return room if self.chunk_size_limit is None else min(room, self.chunk_size_limit)

    def counter(self, llm: LLM | None) -> LLM:
        """Return what counts: the helper's own tokenizer, else the LLM, else a safe estimate."""
        if llm is not None and self._tokenizer is None:
            return llm
        from .hand_counter import HandCounter

        return HandCounter(self._tokenizer, owner="a prompt helper's tokenizer")

    def _repacked(
        self, prompt: BasePromptTemplate, texts: Sequence[str], padding: int, llm: LLM | None
    ) -> Program[list[str]]:
        room = yield from self.room(prompt, padding, llm)
        passages = tuple(Passage(0, "", text) for text in texts if text.strip())
        around, *tokens = yield from count([SEPARATOR, *(passage.text for passage in passages)])
        counted = Counted(passages, tuple(tokens), Around(around, around), overlap_ratio=self.chunk_overlap_ratio)
        packs = yield from pack(counted, room)
        return [one.plain() for one in packs] or [""]

    def _truncated(
        self, prompt: BasePromptTemplate, texts: Sequence[str], padding: int, llm: LLM | None
    ) -> Program[list[str]]:
        room = yield from self.room(prompt, padding, llm)
        share = room // max(len(texts), 1)
        if share < 1:
            raise WindowTooSmall(self.context_window, (("room", room), ("texts", len(texts))))
        cut: list[str] = []
        for text in texts:
            cut.append((yield from shorten(text, share)))  # noqa: PERF401 - a comprehension cannot yield
        return cut
