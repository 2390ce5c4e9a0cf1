"""Context chat: search with the user's own words, answer with the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, Unpack

from responsa.programs import Program
from responsa.prompts import BasePromptTemplate
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import Postprocessor, Retriever

from .options import ChatOptions, ContextOptions
from .searching import SearchingChatEngine
from .types import ChatMode


class ContextChatEngine(SearchingChatEngine):
    """Search with the user's own words and answer from what is found: K calls a message.

    Args:
        retriever: Finds the passages.
        node_postprocessors: Filter, reorder or rescore what was found, in this order.
        context_template: The system message over the passages; variable `context_str`.
        context_refine_template: The same for later packs; variables `context_msg`, `existing_answer`.
        small_talk: Answer a greeting or thanks without a search.
        **options: The keywords of `BaseChatEngine`.

    Raises:
        UnknownOption: It has no such keyword.
    """

    mode: ClassVar[ChatMode] = ChatMode.CONTEXT

    def __init__(
        self,
        retriever: Retriever,
        *,
        node_postprocessors: Sequence[Postprocessor] = (),
        context_template: str | BasePromptTemplate | None = None,
        context_refine_template: str | BasePromptTemplate | None = None,
        small_talk: bool = True,
        **options: Unpack[ChatOptions],
    ) -> None:
        super().__init__(
            retriever,
            node_postprocessors=node_postprocessors,
            context_template=context_template,
            context_refine_template=context_refine_template,
            small_talk=small_talk,
            **options,
        )

    @classmethod
    def from_defaults(cls, retriever: Retriever, **options: Unpack[ContextOptions]) -> Self:
        """Return the engine over a retriever."""
        return cls(retriever, **options)

    def search_words(self, message: str, history: Sequence[ChatMessage]) -> Program[str]:
        return message
        yield
