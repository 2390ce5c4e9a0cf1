"""The index with the engines over it."""

from .vector_store_index import VectorStoreIndex

__all__ = ["VectorStoreIndex"]
