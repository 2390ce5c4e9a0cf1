"""Prompt templates and their default texts, one file a language."""

from .default_prompts import DefaultPrompts, default_prompts, may_refuse, refuses
from .language import Language, LanguageChoice, detect_language
from .mixin import PromptDictType, PromptMixin
from .rich import RichPromptTemplate
from .style import REASONING_END, REASONING_START, AnswerStyle, think_first
from .templates import BasePromptTemplate, ChatPromptTemplate, PromptTemplate, PromptType, SelectorPromptTemplate

__all__ = [
    "REASONING_END",
    "REASONING_START",
    "AnswerStyle",
    "BasePromptTemplate",
    "ChatPromptTemplate",
    "DefaultPrompts",
    "Language",
    "LanguageChoice",
    "PromptDictType",
    "PromptMixin",
    "PromptTemplate",
    "PromptType",
    "RichPromptTemplate",
    "SelectorPromptTemplate",
    "default_prompts",
    "detect_language",
    "may_refuse",
    "refuses",
    "think_first",
]
