"""The blocking half of a store that is written asynchronously."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import NodeWithScore, TextNode

from .contract import StoredDocument

T = TypeVar("T")


class AsyncStore(ABC):
    """A store whose every blocking method runs its twin; a subclass writes the twins and how to run them.

    What the methods do stands with `responsa.retrieval.stores.Store`.
    """

    @abstractmethod
    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call to its end, on a loop that is not the caller's."""

    def replace_documents(self, documents: Sequence[StoredDocument]) -> None:
        """Store documents, each in place of what was stored under its identity, all in one step."""
        self._run(self.areplace_documents(documents))

    @abstractmethod
    async def areplace_documents(self, documents: Sequence[StoredDocument]) -> None:
        """Store documents, each in place of what was stored under its identity, all in one step."""

    def add_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None:
        """Store passages, each in place of the one with its identity; other passages of their documents stay."""
        self._run(self.aadd_nodes(nodes, vectors))

    @abstractmethod
    async def aadd_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None:
        """Store passages, each in place of the one with its identity; other passages of their documents stay."""

    def delete_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove all passages of documents; return how many passages that were."""
        return self._run(self.adelete_documents(doc_ids))

    @abstractmethod
    async def adelete_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove all passages of documents; return how many passages that were."""

    def delete_nodes(self, node_ids: Sequence[str]) -> int:
        """Remove passages; return how many were there."""
        return self._run(self.adelete_nodes(node_ids))

    @abstractmethod
    async def adelete_nodes(self, node_ids: Sequence[str]) -> int:
        """Remove passages; return how many were there."""

    def dense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        """Return the passages whose vectors are nearest, best first, scored by cosine similarity."""
        return self._run(self.adense_search(vector, top_k, filters))

    @abstractmethod
    async def adense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        """Return the passages whose vectors are nearest, best first, scored by cosine similarity."""

    def keyword_search(self, query: str, top_k: int, filters: MetadataFilters | None = None) -> list[NodeWithScore]:
        """Return the passages that share search words with the query, best first, scored by BM25."""
        return self._run(self.akeyword_search(query, top_k, filters))

    @abstractmethod
    async def akeyword_search(
        self, query: str, top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        """Return the passages that share search words with the query, best first, scored by BM25."""

    def similarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine similarity of each passage that is there, by its identity."""
        return self._run(self.asimilarities(vector, node_ids))

    @abstractmethod
    async def asimilarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine similarity of each passage that is there, by its identity."""

    def get_nodes(self, node_ids: Sequence[str]) -> list[TextNode]:
        """Return the passages that are there, in the order asked for."""
        return self._run(self.aget_nodes(node_ids))

    @abstractmethod
    async def aget_nodes(self, node_ids: Sequence[str]) -> list[TextNode]:
        """Return the passages that are there, in the order asked for."""

    def count(self) -> int:
        """Return the number of passages."""
        return self._run(self.acount())

    @abstractmethod
    async def acount(self) -> int:
        """Return the number of passages."""

    def document_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the content hash of every document, or of those asked for, by identity."""
        return self._run(self.adocument_hashes(doc_ids))

    @abstractmethod
    async def adocument_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the content hash of every document, or of those asked for, by identity."""

    def optimize(self) -> None:
        """Make searches fast after many writes. Needs the lock."""
        self._run(self.aoptimize())

    @abstractmethod
    async def aoptimize(self) -> None:
        """Make searches fast after many writes. Needs the lock."""
