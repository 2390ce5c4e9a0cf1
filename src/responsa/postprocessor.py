"""Postprocessors, at the place LlamaIndex has them."""

from __future__ import annotations

from .retrieval.postprocessors import (
    BaseNodePostprocessor,
    DedupPostprocessor,
    KeywordNodePostprocessor,
    LongContextReorder,
    Rerank,
    SimilarityPostprocessor,
)

__all__ = [
    "BaseNodePostprocessor",
    "DedupPostprocessor",
    "KeywordNodePostprocessor",
    "LongContextReorder",
    "Rerank",
    "SimilarityPostprocessor",
]
