"""Retrieve, then synthesize."""

from .retriever_query_engine import RetrieverQueryEngine

__all__ = ["RetrieverQueryEngine"]
