"""A store in memory, exact: for tests and small corpora (some ten thousand passages)."""

from __future__ import annotations

import asyncio
import heapq
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from operator import mul
from threading import Lock, RLock
from typing import Any

from responsa.schema.errors import IndexLocked
from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import MetadataMode, NodeWithScore, TextNode
from responsa.tokens.words import query_words, words

from .bm25 import BM25Index
from .contract import StoredDocument, StoreMeta


@dataclass(frozen=True, slots=True)
class _Row:
    node: TextNode
    doc_id: str | None
    content_hash: str | None
    vector: array[float]


class MemoryStore:
    """Passages in this process's memory; they end with it.

    Args:
        meta: What model makes the vectors, and how many numbers they have.
    """

    location = "memory"

    def __init__(self, meta: StoreMeta) -> None:
        self._meta = meta
        self._rows: dict[str, _Row] = {}
        self._node_ids: dict[str, list[str]] = {}
        self._keywords = BM25Index()
        self._matrix: Any = None
        self._guard = RLock()
        self._writer = Lock()

    @property
    def meta(self) -> StoreMeta:
        return self._meta

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Take the right to write until the context ends.

        Raises:
            IndexLocked: Another call has it.
        """
        if not self._writer.acquire(blocking=False):
            raise IndexLocked(self.location)
        try:
            yield
        finally:
            self._writer.release()

    def replace_documents(self, documents: Sequence[StoredDocument]) -> None:
        prepared = [
            (document, [(node, vector, _search_words(node)) for node, vector in _pairs(document)])
            for document in documents
        ]
        with self._guard:
            for document, passages in prepared:
                self._remove(list(self._node_ids.get(document.doc_id, ())))
                for node, vector, found in passages:
                    self._put(_Row(deepcopy(node), document.doc_id, document.content_hash, vector), found)

    async def areplace_documents(self, documents: Sequence[StoredDocument]) -> None:
        await asyncio.to_thread(self.replace_documents, documents)

    def add_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None:
        prepared = [(node, vector, _search_words(node)) for node, vector in zip(nodes, vectors, strict=True)]
        with self._guard:
            for node, vector, found in prepared:
                self._put(_Row(deepcopy(node), node.ref_doc_id, None, vector), found)

    async def aadd_nodes(self, nodes: Sequence[TextNode], vectors: Sequence[array[float]]) -> None:
        await asyncio.to_thread(self.add_nodes, nodes, vectors)

    def delete_documents(self, doc_ids: Sequence[str]) -> int:
        with self._guard:
            return self._remove([node_id for doc_id in set(doc_ids) for node_id in self._node_ids.get(doc_id, ())])

    async def adelete_documents(self, doc_ids: Sequence[str]) -> int:
        return self.delete_documents(doc_ids)

    def delete_nodes(self, node_ids: Sequence[str]) -> int:
        with self._guard:
            return self._remove([node_id for node_id in set(node_ids) if node_id in self._rows])

    async def adelete_nodes(self, node_ids: Sequence[str]) -> int:
        return self.delete_nodes(node_ids)

    def dense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        with self._guard:
            allowed = self._allowed(filters)
            scores = zip(self._rows, self._products(vector), strict=True)
            return self._best(((node_id, score) for node_id, score in scores if allowed(node_id)), top_k)

    async def adense_search(
        self, vector: Sequence[float], top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        return self.dense_search(vector, top_k, filters)

    def keyword_search(self, query: str, top_k: int, filters: MetadataFilters | None = None) -> list[NodeWithScore]:
        with self._guard:
            scores = self._keywords.search(query_words(query), self._allowed(filters))
            return self._best(scores.items(), top_k)

    async def akeyword_search(
        self, query: str, top_k: int, filters: MetadataFilters | None = None
    ) -> list[NodeWithScore]:
        return self.keyword_search(query, top_k, filters)

    def similarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        with self._guard:
            rows = [(node_id, self._rows[node_id]) for node_id in node_ids if node_id in self._rows]
        return {node_id: sum(map(mul, row.vector, vector)) for node_id, row in rows}

    async def asimilarities(self, vector: Sequence[float], node_ids: Sequence[str]) -> dict[str, float]:
        return self.similarities(vector, node_ids)

    def get_nodes(self, node_ids: Sequence[str]) -> list[TextNode]:
        with self._guard:
            return [deepcopy(self._rows[node_id].node) for node_id in node_ids if node_id in self._rows]

    async def aget_nodes(self, node_ids: Sequence[str]) -> list[TextNode]:
        return self.get_nodes(node_ids)

    def count(self) -> int:
        return len(self._rows)

    async def acount(self) -> int:
        return self.count()

    def document_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        asked = None if doc_ids is None else set(doc_ids)
        with self._guard:
            return {
                row.doc_id: row.content_hash
                for row in self._rows.values()
                if row.doc_id is not None and row.content_hash is not None and (asked is None or row.doc_id in asked)
            }

    async def adocument_hashes(self, doc_ids: Sequence[str] | None = None) -> dict[str, str]:
        return self.document_hashes(doc_ids)

    def optimize(self) -> None:
        """Do nothing: searches here are as fast as they get."""

    async def aoptimize(self) -> None: ...

    def close(self) -> None:
        """Let go of the passages."""
        with self._guard:
            self._remove(list(self._rows))

    def _put(self, row: _Row, found: list[str]) -> None:
        node_id = row.node.id_
        if node_id in self._rows:
            self._remove([node_id])
        self._rows[node_id] = row
        if row.doc_id is not None:
            self._node_ids.setdefault(row.doc_id, []).append(node_id)
        self._keywords.add(node_id, found)
        self._matrix = None

    def _remove(self, node_ids: list[str]) -> int:
        for node_id in node_ids:
            row = self._rows.pop(node_id)
            self._keywords.remove(node_id)
            if row.doc_id is not None:
                siblings = self._node_ids[row.doc_id]
                siblings.remove(node_id)
                if not siblings:
                    del self._node_ids[row.doc_id]
        self._matrix = None
        return len(node_ids)

    def _allowed(self, filters: MetadataFilters | None) -> Callable[[str], bool]:
        if filters is None:
            return lambda node_id: True
        return lambda node_id: filters.matches(self._rows[node_id].node.metadata)

    def _products(self, vector: Sequence[float]) -> Iterable[float]:
        try:
            import numpy
        except ImportError:  # the core installs without it; a hundred times slower, the same to the sixth place
            return [sum(map(mul, row.vector, vector)) for row in self._rows.values()]
        if self._matrix is None:
            joined = b"".join(row.vector.tobytes() for row in self._rows.values())
            self._matrix = numpy.frombuffer(joined, dtype=numpy.float32).reshape(-1, self._meta.dimensions)
        products: list[float] = (self._matrix @ numpy.asarray(vector, dtype=numpy.float32)).tolist()
        return products

    def _best(self, scores: Iterable[tuple[str, float]], top_k: int) -> list[NodeWithScore]:
        best = heapq.nsmallest(top_k, scores, key=lambda item: (-item[1], item[0]))
        return [NodeWithScore(deepcopy(self._rows[node_id].node), score) for node_id, score in best]


def _pairs(document: StoredDocument) -> Iterable[tuple[TextNode, array[float]]]:
    return zip(document.nodes, document.vectors, strict=True)


def _search_words(node: TextNode) -> list[str]:
    return words(node.get_content(MetadataMode.EMBED))
