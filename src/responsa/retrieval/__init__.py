"""Documents in, an index over them, and the search for passages. Loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .fusion import Match, RetrievedNode, reciprocal_rank_fusion
    from .index import PassageIndex
    from .progress import IngestProgress, IngestReport
    from .retrievers import BM25Retriever, HybridRetriever, QueryFusionRetriever, VectorIndexRetriever

__all__ = [
    "BM25Retriever",
    "HybridRetriever",
    "IngestProgress",
    "IngestReport",
    "Match",
    "PassageIndex",
    "QueryFusionRetriever",
    "RetrievedNode",
    "VectorIndexRetriever",
    "reciprocal_rank_fusion",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(
        __name__,
        {
            "BM25Retriever": ".retrievers",
            "HybridRetriever": ".retrievers",
            "IngestProgress": ".progress",
            "IngestReport": ".progress",
            "Match": ".fusion",
            "PassageIndex": ".index",
            "QueryFusionRetriever": ".retrievers",
            "RetrievedNode": ".fusion",
            "VectorIndexRetriever": ".retrievers",
            "reciprocal_rank_fusion": ".fusion",
        },
    )
