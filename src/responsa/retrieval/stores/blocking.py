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
        self._run(self.areplace_documents(documents))

    @abstractmethod
    async def areplace_documents(self, documents: Sequence[StoredDocument]) -> None: ...

    def add_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None:
        self._run(self.aadd_nodes(nodes, vectors))

    @abstractmethod
    async def aadd_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None: ...

    def delete_documents(self, doc_ids: Sequence[str]) -> int:
        return self._run(self.adelete_documents(doc_ids))

    @abstractmethod
    async def adelete_documents(self, doc_ids: Sequence[str]) -> int: ...

    def delete_nodes(self, node_ids: Sequence[str]) -> int:
        return self._run(self.adelete_nodes(node_ids))

    @abstractmethod
    async def adelete_nodes(self, node_ids: Sequence[str]) -> int: ...

    def dense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        return self._run(self.adense_search(vector, top_k, filters))

    @abstractmethod
    async def adense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]: ...

    def keyword_search(self, query: str, top_k: int, filters: MetadataFilters | None = None) -> list[NodeWithScore]:
        return self._run(self.akeyword_search(query, top_k, filters))

    @abstractmethod
    async def akeyword_search(
        self, query: str, top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]: ...

    def similarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        return self._run(self.asimilarities(vector, node_ids))

    @abstractmethod
    async def asimilarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]: ...

    def get_nodes(self, node_ids: Sequence[str]) -> list[TextNode]:
        return self._run(self.aget_nodes(node_ids))

    @abstractmethod
    async def aget_nodes(self, node_ids: Sequence[str]) -> list[TextNode]: ...

    def count(self) -> int:
        return self._run(self.acount())

    @abstractmethod
    async def acount(self) -> int: ...

    def document_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        return self._run(self.adocument_hashes(doc_ids))

    @abstractmethod
    async def adocument_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]: ...

    def optimize(self) -> None:
        self._run(self.aoptimize())

    @abstractmethod
    async def aoptimize(self) -> None: ...
