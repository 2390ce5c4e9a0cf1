"""Prompt templates and their default texts, one file a language."""

from .default_prompts import DefaultPrompts, default_prompts, may_refuse, refuses
from .language import Language, detect_language
from .mixin import PromptDictType, PromptMixin
from .rich import RichPromptTemplate
from .templates import BasePromptTemplate, ChatPromptTemplate, PromptTemplate, PromptType, SelectorPromptTemplate

__all__ = [
    "BasePromptTemplate",
    "ChatPromptTemplate",
    "DefaultPrompts",
    "Language",
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
]
