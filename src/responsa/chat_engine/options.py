"""The keywords of each chat engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, TypedDict, TypeVar

from responsa.instrumentation import CallbackManager
from responsa.memory import Memory
from responsa.prompts import BasePromptTemplate, LanguageChoice
from responsa.schema.errors import UnknownOption
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM, Postprocessor


class ChatOptions(TypedDict, total=False):
    """What every chat engine takes; see `BaseChatEngine`."""

    llm: LLM | None
    memory: Memory | None
    chat_history: Sequence[ChatMessage] | None
    system_prompt: str | None
    prefix_messages: Sequence[ChatMessage]
    language: LanguageChoice | None
    callback_manager: CallbackManager | None
    llm_kwargs: Mapping[str, Any] | None


class ContextOptions(ChatOptions, total=False):
    """What `ContextChatEngine` takes beside its retriever."""

    node_postprocessors: Sequence[Postprocessor]
    context_template: str | BasePromptTemplate | None
    context_refine_template: str | BasePromptTemplate | None
    small_talk: bool


class CondensePlusContextOptions(ChatOptions, total=False):
    """What `CondensePlusContextChatEngine` takes beside its retriever."""

    node_postprocessors: Sequence[Postprocessor]
    context_prompt: str | BasePromptTemplate | None
    context_refine_prompt: str | BasePromptTemplate | None
    condense_prompt: str | BasePromptTemplate | None
    skip_condense: bool
    small_talk: bool


class CondenseQuestionOptions(ChatOptions, total=False):
    """What `CondenseQuestionChatEngine` takes beside its query engine."""

    condense_question_prompt: str | BasePromptTemplate | None
    skip_condense: bool
    small_talk: bool


Options = TypeVar("Options", bound=ChatOptions)


def keywords_of(engine: type) -> frozenset[str]:
    """Return the names of all keywords that an engine takes."""
    own = {name for name, one in signature(engine).parameters.items() if one.kind is one.KEYWORD_ONLY}
    return frozenset(ChatOptions.__annotations__) | own


def known(engine: type, options: Options) -> Options:
    """Return the keywords given to an engine.

    Raises:
        UnknownOption: The engine does not have one of them.
    """
    names = keywords_of(engine)
    for name in options:
        if name not in names:
            raise UnknownOption(name, engine.__name__, tuple(sorted(names)))
    return options
