"""Context chat: search with the user's own words, answer with the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, Unpack

from responsa.programs import Program
from responsa.prompts import BasePromptTemplate, ChatPromptTemplate
from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import CompactAndRefine
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import as_query
from responsa.schema.protocols import Postprocessor, Retriever
from responsa.schema.response import Response

from .base import BaseChatEngine, ChatOptions, with_search
from .small_talk import is_small_talk
from .types import ChatMode


class ContextChatEngine(BaseChatEngine):
    """Search with the user's own words and answer from what is found: K calls a message.

    Args:
        retriever: Finds the passages.
        node_postprocessors: Filter, reorder or rescore what was found, in this order.
        context_template: The system message over the passages; variable `context_str`.
        context_refine_template: The same for later packs; variables `context_msg`, `existing_answer`.
        small_talk: Answer a greeting or thanks without a search.
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
        super().__init__(**options)
        synthesizer = CompactAndRefine(
            self._llm,
            text_qa_template=_as_chat(context_template),
            refine_template=_as_chat(context_refine_template),
            language=self._language,
            callback_manager=self._callback_manager,
        )
        self._engine = RetrieverQueryEngine(
            retriever, synthesizer, node_postprocessors, callback_manager=self._callback_manager
        )
        self._small_talk = small_talk

    @classmethod
    def from_defaults(cls, retriever: Retriever, **options: Unpack[ChatOptions]) -> Self:
        """Return the engine over a retriever."""
        return cls(retriever, **options)

    def answer(self, message: str, history: Sequence[ChatMessage]) -> Program[Response]:
        if self._small_talk and is_small_talk(message):
            return (yield from self.talk(message, history))
        words = yield from self.search_words(message, history)
        nodes = yield from self._engine.find(as_query(words))
        response = yield from self._engine.synthesizer.announced(message, nodes, history=history)
        return with_search(response, words)

    def search_words(self, message: str, history: Sequence[ChatMessage]) -> Program[str]:
        """Return what to search with."""
        return message
        yield


def _as_chat(template: str | BasePromptTemplate | None) -> BasePromptTemplate | None:
    if isinstance(template, str):
        return ChatPromptTemplate.from_messages([("system", template), ("user", "{query_str}")])
    return template
