"""Retrievers, at the place LlamaIndex has them."""

from __future__ import annotations

from .retrieval.retrievers import BM25Retriever, HybridRetriever, QueryFusionRetriever, VectorIndexRetriever

__all__ = ["BM25Retriever", "HybridRetriever", "QueryFusionRetriever", "VectorIndexRetriever"]
