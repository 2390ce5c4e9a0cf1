"""Packing of messages by hand: text and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from responsa.programs import Program, arun, count, run
from responsa.prompts import BasePromptTemplate
from responsa.schema.completions import LLMMetadata
from responsa.schema.messages import ChatMessage, MessageRole, TextBlock
from responsa.schema.protocols import LLM

from .fitting import Packer
from .packer import Around, Counted, pack, pack_first
from .passages import SEPARATOR, Pack, passages_of_messages
from .prompt_helper import PromptHelper, Tokenizer

DEFAULT_IMAGE_TOKENS: Final = 1024


class ChatPromptHelper:
    """Shares out a window and packs messages of text and pictures into it.

    Args:
        context_window: Tokens of prompt and answer together.
        num_output: Tokens reserved for the answer.
        chunk_overlap_ratio: As in `PromptHelper`.
        chunk_size_limit: The most tokens of a pack; None for what the window leaves.
        tokenizer: As in `PromptHelper`.
        image_tokens: What a picture counts.
    """

    def __init__(
        self,
        context_window: int = 4096,
        num_output: int = 256,
        chunk_overlap_ratio: float = 0.0,
        chunk_size_limit: int | None = None,
        tokenizer: Tokenizer | None = None,
        *,
        image_tokens: int = DEFAULT_IMAGE_TOKENS,
    ) -> None:
        self._texts = PromptHelper(context_window, num_output, chunk_overlap_ratio, chunk_size_limit, tokenizer)
        self.context_window = context_window
        self.num_output = num_output
        self.chunk_overlap_ratio = chunk_overlap_ratio
        self.chunk_size_limit = chunk_size_limit
        self.image_tokens = image_tokens

    @classmethod
    def from_llm_metadata(
        cls,
        llm_metadata: LLMMetadata,
        chunk_overlap_ratio: float = 0.0,
        chunk_size_limit: int | None = None,
        tokenizer: Tokenizer | None = None,
        *,
        image_tokens: int = DEFAULT_IMAGE_TOKENS,
    ) -> ChatPromptHelper:
        """Return the helper for what an LLM says of itself."""
        window, output = llm_metadata.context_window, llm_metadata.num_output
        return cls(window, output, chunk_overlap_ratio, chunk_size_limit, tokenizer, image_tokens=image_tokens)

    def repack(
        self, prompt: BasePromptTemplate, messages: Sequence[ChatMessage], padding: int = 5, llm: LLM | None = None
    ) -> list[ChatMessage]:
        """Join messages, in their order, into as few as fit `prompt`; only a text larger than a pack is cut.

        Args:
            prompt: The template they will stand in; its variables count as empty.
            messages: The messages; empty ones are left out.
            padding: Tokens left free in each.
            llm: Whose tokenizer counts.

        Returns:
            One user message a pack: its text, then its pictures.

        Raises:
            WindowTooSmall: The template leaves no room.
        """
        return run(self._packed(prompt, messages, padding, llm, pack), self._texts.counter(llm))

    async def arepack(
        self, prompt: BasePromptTemplate, messages: Sequence[ChatMessage], padding: int = 5, llm: LLM | None = None
    ) -> list[ChatMessage]:
        """Join messages without blocking; see `repack`."""
        return await arun(self._packed(prompt, messages, padding, llm, pack), self._texts.counter(llm))

    def truncate(
        self, prompt: BasePromptTemplate, messages: Sequence[ChatMessage], padding: int = 5, llm: LLM | None = None
    ) -> list[ChatMessage]:
        """Return one message of what fits `prompt`, from the first on; none if nothing does. See `repack`."""
        return run(self._packed(prompt, messages, padding, llm, pack_first), self._texts.counter(llm))

    async def atruncate(
        self, prompt: BasePromptTemplate, messages: Sequence[ChatMessage], padding: int = 5, llm: LLM | None = None
    ) -> list[ChatMessage]:
        """Return one message of what fits without blocking; see `truncate`."""
        return await arun(self._packed(prompt, messages, padding, llm, pack_first), self._texts.counter(llm))

    def _packed(
        self,
        prompt: BasePromptTemplate,
        messages: Sequence[ChatMessage],
        padding: int,
        llm: LLM | None,
        packer: Packer,
    ) -> Program[list[ChatMessage]]:
        room = yield from self._texts.room(prompt, padding, llm)
        passages = tuple(passages_of_messages(messages))
        around, *texts = yield from count([SEPARATOR, *(passage.body for passage in passages)])
        tokens = (text + self.image_tokens * len(one.media) for text, one in zip(texts, passages, strict=True))
        counted = Counted(passages, tuple(tokens), Around(around, around), self.image_tokens, self.chunk_overlap_ratio)
        packs = yield from packer(counted, room)
        return [_message(one) for one in packs if one.pieces]


def _message(packed: Pack) -> ChatMessage:
    return ChatMessage(MessageRole.USER, blocks=(TextBlock(packed.plain()), *packed.media))
