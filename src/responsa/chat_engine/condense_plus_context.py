"""Condense plus context: search with the rewritten message, answer the user's own sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, Unpack

from responsa.programs import Program
from responsa.prompts import BasePromptTemplate
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import Postprocessor, Retriever

from .options import ChatOptions, CondensePlusContextOptions
from .searching import SearchingChatEngine
from .types import ChatMode


class CondensePlusContextChatEngine(SearchingChatEngine):
    """Rewrite a follow-up for the search, and answer the user's own sentence from what is found.

    One call more than `ContextChatEngine` for a message that has a conversation before it, unless `skip_condense`.

    Args:
        retriever: Finds the passages.
        node_postprocessors: Filter, reorder or rescore what was found, in this order.
        context_prompt: The system message over the passages; variable `context_str`.
        context_refine_prompt: The same for later packs; variables `context_msg`, `existing_answer`.
        condense_prompt: The rewrite; variables `chat_history`, `question`.
        skip_condense: Search with the user's own words.
        small_talk: Answer a greeting or thanks without a search.
        **options: The keywords of `BaseChatEngine`.

    Raises:
        UnknownOption: It has no such keyword.
    """

    mode: ClassVar[ChatMode] = ChatMode.CONDENSE_PLUS_CONTEXT

    def __init__(
        self,
        retriever: Retriever,
        *,
        node_postprocessors: Sequence[Postprocessor] = (),
        context_prompt: str | BasePromptTemplate | None = None,
        context_refine_prompt: str | BasePromptTemplate | None = None,
        condense_prompt: str | BasePromptTemplate | None = None,
        skip_condense: bool = False,
        small_talk: bool = True,
        **options: Unpack[ChatOptions],
    ) -> None:
        super().__init__(
            retriever,
            node_postprocessors=node_postprocessors,
            context_template=context_prompt,
            context_refine_template=context_refine_prompt,
            small_talk=small_talk,
            **options,
        )
        self._condense_prompt = condense_prompt
        self._skip_condense = skip_condense

    @classmethod
    def from_defaults(cls, retriever: Retriever, **options: Unpack[CondensePlusContextOptions]) -> Self:
        """Return the engine over a retriever."""
        return cls(retriever, **options)

    def search_words(self, message: str, history: Sequence[ChatMessage]) -> Program[str]:
        if self._skip_condense:
            return message
        return (yield from self.rewriter(message, self._condense_prompt).rewrite(message, history))
