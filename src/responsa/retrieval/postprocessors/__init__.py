"""What is done to retrieved passages before they are used: leave out, reorder, score anew."""

from .base import BaseNodePostprocessor
from .filters import DedupPostprocessor, KeywordNodePostprocessor, SimilarityPostprocessor
from .reorder import LongContextReorder
from .rerank import Rerank

__all__ = [
    "BaseNodePostprocessor",
    "DedupPostprocessor",
    "KeywordNodePostprocessor",
    "LongContextReorder",
    "Rerank",
    "SimilarityPostprocessor",
]
