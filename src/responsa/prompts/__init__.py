"""Prompt templates and their default texts, one file a language."""

from .default_prompts import DefaultPrompts, default_prompts, may_refuse, refuses
from .language import Language, detect_language
from .rich import RichPromptTemplate
from .templates import BasePromptTemplate, ChatPromptTemplate, PromptTemplate, SelectorPromptTemplate

__all__ = [
    "BasePromptTemplate",
    "ChatPromptTemplate",
    "DefaultPrompts",
    "Language",
    "PromptTemplate",
    "RichPromptTemplate",
    "SelectorPromptTemplate",
    "default_prompts",
    "detect_language",
    "may_refuse",
    "refuses",
]
