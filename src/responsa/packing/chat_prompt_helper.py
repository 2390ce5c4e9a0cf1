"""Packing of messages by hand: text and pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from responsa.prompts import BasePromptTemplate
from responsa.schema.completions import LLMMetadata
from responsa.schema.messages import ChatMessage, MessageRole, TextBlock
from responsa.schema.protocols import LLM

from .packer import Counted, pack, pack_first
from .passages import SEPARATOR, Pack, passages_of_messages
from .prompt_helper import PromptHelper, counting

DEFAULT_IMAGE_TOKENS: Final = 1024


class ChatPromptHelper:
    """Shares out a window and packs messages of text and pictures into it.

    Args:
        context_window: Tokens of prompt and answer together.
        num_output: Tokens reserved for the answer.
        chunk_size_limit: The most tokens of a pack; None for what the window leaves.
        tokenizer: Turns a text into its tokens; a safe estimate from above when neither it nor an LLM is given.
        image_tokens: What a picture counts.
    """

    def __init__(
        self,
        context_window: int = 4096,
        num_output: int = 256,
        *,
        chunk_size_limit: int | None = None,
        tokenizer: Callable[[str], Sequence[Any]] | None = None,
        image_tokens: int = DEFAULT_IMAGE_TOKENS,
    ) -> None:
        self._texts = PromptHelper(context_window, num_output, chunk_size_limit=chunk_size_limit, tokenizer=tokenizer)
        self.context_window = context_window
        self.num_output = num_output
        self.chunk_size_limit = chunk_size_limit
        self.image_tokens = image_tokens

    @classmethod
    def from_llm_metadata(
        cls, llm_metadata: LLMMetadata, *, image_tokens: int = DEFAULT_IMAGE_TOKENS
    ) -> ChatPromptHelper:
        """Return the helper for what an LLM says of itself."""
        return cls(llm_metadata.context_window, llm_metadata.num_output, image_tokens=image_tokens)

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
        room = self._texts.room(prompt, llm, padding)
        packs = counting(pack(self._counted(messages, llm), room), self._texts.counter(llm))
        return [_message(one) for one in packs]

    def truncate(
        self, prompt: BasePromptTemplate, messages: Sequence[ChatMessage], padding: int = 5, llm: LLM | None = None
    ) -> list[ChatMessage]:
        """Return one message of what fits `prompt`, from the first on; see `repack`."""
        room = self._texts.room(prompt, llm, padding)
        packs = counting(pack_first(self._counted(messages, llm), room), self._texts.counter(llm))
        return [_message(one) for one in packs if one.pieces]

    def _counted(self, messages: Sequence[ChatMessage], llm: LLM | None) -> Counted:
        passages = tuple(passages_of_messages(messages))
        around, *texts = self._texts.counter(llm)([SEPARATOR, *(passage.body for passage in passages)])
        tokens = (text + self.image_tokens * len(one.media) for text, one in zip(texts, passages, strict=True))
        return Counted(passages, tuple(tokens), around, self.image_tokens)


def _message(packed: Pack) -> ChatMessage:
    return ChatMessage(MessageRole.USER, blocks=(TextBlock(packed.plain()), *packed.media))
