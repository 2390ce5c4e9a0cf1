"""Condense question: the rewritten message goes through a whole query engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, Unpack

from responsa.programs import Program
from responsa.prompts import BasePromptTemplate
from responsa.query_engine import RetrieverQueryEngine
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM
from responsa.schema.response import Response

from .base import BaseChatEngine, with_search
from .options import ChatOptions, CondenseQuestionOptions, known
from .small_talk import is_small_talk
from .types import ChatMode


class CondenseQuestionChatEngine(BaseChatEngine):
    """Rewrite a follow-up into a question of its own and put that to a query engine.

    One call for the rewrite, where there is a conversation, and those of the query engine.

    Args:
        query_engine: Answers the question.
        condense_question_prompt: The rewrite; variables `chat_history`, `question`.
        skip_condense: Put the user's own words to the query engine.
        small_talk: Answer a greeting or thanks without a search.
        **options: The keywords of `BaseChatEngine`. An `llm` answers the query engine's calls too; where none is given,
            the query engine's own rewrites.

    Raises:
        UnknownOption: It has no such keyword.
    """

    mode: ClassVar[ChatMode] = ChatMode.CONDENSE_QUESTION

    def __init__(
        self,
        query_engine: RetrieverQueryEngine,
        *,
        condense_question_prompt: str | BasePromptTemplate | None = None,
        skip_condense: bool = False,
        small_talk: bool = True,
        **options: Unpack[ChatOptions],
    ) -> None:
        super().__init__(**known(type(self), options))
        self._query_engine = query_engine
        self._prompt = condense_question_prompt
        self._skip_condense = skip_condense
        self._small_talk = small_talk

    @classmethod
    def from_defaults(cls, query_engine: RetrieverQueryEngine, **options: Unpack[CondenseQuestionOptions]) -> Self:
        """Return the engine over a query engine."""
        return cls(query_engine, **options)

    @property
    def llm(self) -> LLM:
        return self._llm or self._query_engine.synthesizer.llm or super().llm

    @property
    def concurrency(self) -> int | None:
        return self._query_engine.synthesizer.concurrency

    def answer(self, message: str, history: Sequence[ChatMessage]) -> Program[Response]:
        if self._small_talk and is_small_talk(message):
            return (yield from self.talk(message, history))
        words = message
        if not self._skip_condense:
            words = yield from self.rewriter(message, self._prompt).rewrite(message, history)
        response = yield from self._query_engine.respond(words, llm_kwargs=self._llm_kwargs, history=self.prefixed(()))
        return with_search(response, words)
