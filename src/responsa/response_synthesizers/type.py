"""The names of the modes."""

from __future__ import annotations

from enum import StrEnum


class ResponseMode(StrEnum):
    """How an answer is made from the passages."""

    REFINE = "refine"
    COMPACT = "compact"
    SIMPLE_SUMMARIZE = "simple_summarize"
    TREE_SUMMARIZE = "tree_summarize"
    GENERATION = "generation"
    NO_TEXT = "no_text"
    CONTEXT_ONLY = "context_only"
    ACCUMULATE = "accumulate"
    COMPACT_ACCUMULATE = "compact_accumulate"
