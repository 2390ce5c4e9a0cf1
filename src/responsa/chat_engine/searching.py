"""What the chats that search have in common: find, then answer with the conversation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Unpack

from responsa.programs import Program
from responsa.prompts import BasePromptTemplate, ChatPromptTemplate
from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import CompactAndRefine
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import as_query
from responsa.schema.protocols import Postprocessor, Retriever
from responsa.schema.response import Response

from .base import BaseChatEngine, with_search
from .options import ChatOptions, known
from .small_talk import is_small_talk


class SearchingChatEngine(BaseChatEngine):
    """Searches, and answers the user's own sentence from what is found. A subclass says what it searches with."""

    def __init__(
        self,
        retriever: Retriever,
        *,
        node_postprocessors: Sequence[Postprocessor],
        context_template: str | BasePromptTemplate | None,
        context_refine_template: str | BasePromptTemplate | None,
        small_talk: bool,
        **options: Unpack[ChatOptions],
    ) -> None:
        super().__init__(**known(type(self), options))
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

    @abstractmethod
    def search_words(self, message: str, history: Sequence[ChatMessage]) -> Program[str]:
        """Return the program of what to search with."""

    def answer(self, message: str, history: Sequence[ChatMessage]) -> Program[Response]:
        if self._small_talk and is_small_talk(message):
            return (yield from self.talk(message, history))
        words = yield from self.search_words(message, history)
        nodes = yield from self._engine.find(as_query(words))
        response = yield from self._engine.synthesizer.announced(
            message, nodes, llm_kwargs=self._llm_kwargs, history=self.prefixed(history)
        )
        return with_search(response, words)


def _as_chat(template: str | BasePromptTemplate | None) -> BasePromptTemplate | None:
    if isinstance(template, str):
        return ChatPromptTemplate.from_messages([("system", template), ("user", "{query_str}")])
    return template
