"""What every store of passages does, whatever is below it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import NodeWithScore, TextNode

FORMAT_VERSION: Final = "1"


@dataclass(frozen=True, slots=True)
class StoreMeta:
    """What a store remembers of the vectors in it.

    Args:
        embed_model: The name of the model that made the vectors.
        dimensions: The numbers in a vector.
        format_version: The form the store is written in.
    """

    embed_model: str
    dimensions: int
    format_version: str = FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as a store takes it: all of its passages, each with its vector.

    Args:
        doc_id: The document's identity.
        content_hash: What its content is recognized by when it comes again.
        nodes: Its passages, in order. Their identities are unique in the whole store.
        vectors: One vector a passage, of length one (`unit_vector` makes them).
    """

    doc_id: str
    content_hash: str
    nodes: Sequence[TextNode]
    vectors: Sequence[array[float]]


class Store(Protocol):
    """Passages with vectors and search words, searched by both.

    Every method without `a` in front blocks; its twin with `a` does not. Writing is one call's at a time: hold
    `lock()` around writes. Reads are never held up by it. A write is whole or does not happen, and is seen by the next
    read of the same store. Vectors have length one, those searched with too. Nodes handed out are the caller's own:
    changing them changes nothing in the store. Scores are higher for better matches; equal scores are ordered by
    passage identity.
    """

    @property
    def meta(self) -> StoreMeta:
        """What the store remembers of its vectors."""
        ...

    @property
    def location(self) -> str:
        """Where the store is, for messages."""
        ...

    def lock(self) -> AbstractContextManager[None]:
        """Take the right to write, until the context ends or the process dies; IndexLocked if another has it."""
        ...

    def replace_documents(self, documents: Sequence[StoredDocument]) -> None:
        """Store documents, each in place of what was stored under its identity, all in one step."""
        ...

    async def areplace_documents(self, documents: Sequence[StoredDocument]) -> None: ...

    def add_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None:
        """Store passages, each in place of the one with its identity; other passages of their documents stay."""
        ...

    async def aadd_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None: ...

    def delete_documents(self, doc_ids: Sequence[str]) -> int:
        """Remove all passages of documents; return how many passages that were."""
        ...

    async def adelete_documents(self, doc_ids: Sequence[str]) -> int: ...

    def delete_nodes(self, node_ids: Sequence[str]) -> int:
        """Remove passages; return how many were there."""
        ...

    async def adelete_nodes(self, node_ids: Sequence[str]) -> int: ...

    def dense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        """Return the passages whose vectors are nearest, best first, scored by cosine similarity (-1 to 1)."""
        ...

    async def adense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]: ...

    def keyword_search(self, query: str, top_k: int, filters: MetadataFilters | None = None) -> list[NodeWithScore]:
        """Return the passages that share search words with the query, best first, scored by BM25."""
        ...

    async def akeyword_search(
        self, query: str, top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]: ...

    def similarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine similarity of each passage that is there, by its identity."""
        ...

    async def asimilarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]: ...

    def get_nodes(self, node_ids: Sequence[str]) -> list[TextNode]:
        """Return the passages that are there, in the order asked for."""
        ...

    async def aget_nodes(self, node_ids: Sequence[str]) -> list[TextNode]: ...

    def count(self) -> int:
        """Return the number of passages."""
        ...

    async def acount(self) -> int: ...

    def document_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return the content hash of every document, or of those asked for, by identity."""
        ...

    async def adocument_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]: ...

    def optimize(self) -> None:
        """Make searches fast after many writes: build what indexes are due, merge small files. Needs the lock."""
        ...

    async def aoptimize(self) -> None: ...

    def close(self) -> None:
        """Let go of files and memory. A closed store is not used again."""
        ...
