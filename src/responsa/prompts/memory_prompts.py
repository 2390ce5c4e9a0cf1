"""The default templates of the memory blocks, by language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import en, zh
from .language import Language
from .templates import BasePromptTemplate, PromptTemplate


@dataclass(frozen=True, slots=True)
class MemoryPrompts:
    """The templates of one language.

    Args:
        fact_extraction: Variables `existing_facts`, `conversation`.
        fact_condense: Variables `existing_facts`, `max_facts`.
        summary: Variables `existing_summary`, `conversation`, `max_words`.
    """

    fact_extraction: BasePromptTemplate
    fact_condense: BasePromptTemplate
    summary: BasePromptTemplate


@cache
def memory_prompts(language: Language) -> MemoryPrompts:
    """Return the default templates of `language`."""
    texts = zh if language == "zh" else en
    return MemoryPrompts(
        PromptTemplate(texts.FACTS_USER),
        PromptTemplate(texts.CONDENSE_FACTS_USER),
        PromptTemplate(texts.CONVERSATION_SUMMARY_USER),
    )
