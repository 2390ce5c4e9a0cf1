"""The index with the engines over it: a retriever, a query engine, a chat engine, in one call each."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, Final

from responsa.chat_engine import (
    BaseChatEngine,
    ChatMode,
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from responsa.chat_engine.options import keywords_of
from responsa.chat_engine.types import chat_mode as mode_named
from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import BaseSynthesizer, get_response_synthesizer
from responsa.response_synthesizers.options import SynthesisOptions
from responsa.retrieval.index import PassageIndex
from responsa.schema.errors import InvalidOption, UnknownOption
from responsa.schema.protocols import LLM, Postprocessor

_ENGINES: Final[dict[ChatMode, type[BaseChatEngine]]] = {
    ChatMode.SIMPLE: SimpleChatEngine,
    ChatMode.CONDENSE_QUESTION: CondenseQuestionChatEngine,
    ChatMode.CONTEXT: ContextChatEngine,
    ChatMode.CONDENSE_PLUS_CONTEXT: CondensePlusContextChatEngine,
    ChatMode.BEST: CondensePlusContextChatEngine,
}
# The keywords of `as_retriever` and of `get_response_synthesizer`.
_SEARCHING: Final = frozenset(signature(PassageIndex.as_retriever).parameters) - {"self"}
_ANSWERING: Final = frozenset(SynthesisOptions.__annotations__)


class VectorStoreIndex(PassageIndex):
    """Passages of documents, found again by meaning and by words, with engines that answer from them.

    See `PassageIndex` for how it is made, opened and kept up to date.
    """

    def as_query_engine(
        self,
        llm: LLM | None = None,
        *,
        response_synthesizer: BaseSynthesizer | None = None,
        node_postprocessors: Sequence[Postprocessor] = (),
        **options: Any,
    ) -> RetrieverQueryEngine:
        """Return an engine that answers questions from the index.

        Args:
            llm: The model that answers; `Settings.llm` when left out.
            response_synthesizer: Makes the answer; else `get_response_synthesizer` with its own keywords.
            node_postprocessors: Filter, reorder or rescore what was found.
            **options: The keywords of `as_retriever`, and those of `get_response_synthesizer`.

        Raises:
            UnknownOption: A keyword belongs to neither; nothing has been built.
        """
        searching, answering = _shared_out("as_query_engine", options, _SEARCHING, _ANSWERING)
        if response_synthesizer is not None and (answering or llm is not None):
            name = next(iter(answering), "llm")
            raise InvalidOption(
                name, answering.get(name, llm), "nothing beside response_synthesizer, which has its own"
            )
        synthesizer = response_synthesizer or get_response_synthesizer(llm, **answering)
        return RetrieverQueryEngine(
            self.as_retriever(**searching),
            synthesizer,
            node_postprocessors,
            callback_manager=answering.get("callback_manager"),
        )

    def as_chat_engine(
        self, chat_mode: ChatMode | str = ChatMode.BEST, llm: LLM | None = None, **options: Any
    ) -> BaseChatEngine:
        """Return an engine for one conversation over the index.

        Args:
            chat_mode: How messages are answered.
            llm: The model that answers; `Settings.llm` when left out.
            **options: The keywords of the mode's engine and of `as_retriever`; with `condense_question` also those of
                `get_response_synthesizer`.

        Raises:
            InvalidOption: There is no such mode; for "react" and "openai" it says what to use instead.
            UnknownOption: A keyword belongs to none of them; nothing has been built.
        """
        mode = mode_named(chat_mode)
        engine = _ENGINES[mode]
        owner = f"the chat mode {mode.value}"
        keywords = keywords_of(engine)
        own = {name: options.pop(name) for name in list(options) if name in keywords}
        if engine is SimpleChatEngine:
            _shared_out(owner, options, known=keywords)
            return SimpleChatEngine(llm=llm, **own)
        if engine is CondenseQuestionChatEngine:
            _shared_out(owner, options, _SEARCHING, _ANSWERING, known=keywords)
            return CondenseQuestionChatEngine(self.as_query_engine(llm, **options), llm=llm, **own)
        (searching,) = _shared_out(owner, options, _SEARCHING, known=keywords)
        searcher = CondensePlusContextChatEngine if engine is CondensePlusContextChatEngine else ContextChatEngine
        return searcher(self.as_retriever(**searching), llm=llm, **own)


def _shared_out(
    owner: str, options: dict[str, Any], *takers: frozenset[str], known: frozenset[str] = frozenset()
) -> list[dict[str, Any]]:
    """Return the share of the options of each taker, given as the names of its keywords; `known` are others'."""
    for name in options:
        if not any(name in keywords for keywords in takers):
            raise UnknownOption(name, owner, tuple(sorted(known.union(*takers))))
    return [{name: value for name, value in options.items() if name in keywords} for keywords in takers]
