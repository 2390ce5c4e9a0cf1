"""The default templates, by language.

Instruction and question stand first and unchanged in every call of one query, so that a server's prompt cache keeps
that prefix; the passages, which differ from call to call, come after.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import en, zh
from .language import Language
from .templates import BasePromptTemplate, ChatPromptTemplate


@dataclass(frozen=True, slots=True)
class DefaultPrompts:
    """The templates and fixed phrases of one language.

    Args:
        text_qa: Variables `query_str`, `context_str`.
        refine: Variables `query_str`, `existing_answer`, `context_msg`.
        summary: Variables `query_str`, `context_str`.
        simple: Variable `query_str`.
        refusal: What the model is asked to say when the passages hold no answer.
        no_sources: What a response without passages prints.
    """

    text_qa: BasePromptTemplate
    refine: BasePromptTemplate
    summary: BasePromptTemplate
    simple: BasePromptTemplate
    refusal: str
    no_sources: str


@cache
def default_prompts(language: Language) -> DefaultPrompts:
    """Return the default templates of `language`."""
    texts = zh if language == "zh" else en

    def chat(user: str) -> BasePromptTemplate:
        return ChatPromptTemplate.from_messages([("system", texts.QA_SYSTEM), ("user", user)])

    return DefaultPrompts(
        text_qa=chat(texts.QA_USER),
        refine=chat(texts.REFINE_USER),
        summary=chat(texts.SUMMARY_USER),
        simple=ChatPromptTemplate.from_messages([("user", texts.SIMPLE_USER)]),
        refusal=texts.REFUSAL,
        no_sources=texts.NO_SOURCES,
    )
