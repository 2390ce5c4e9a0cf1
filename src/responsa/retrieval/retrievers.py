"""Searches over an index: by meaning, by words, by both, and over several retrievers."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from responsa.schema.errors import InvalidOption, MissingPart
from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import NodeWithScore, QueryBundle, as_query
from responsa.schema.protocols import Embedder, Retriever

from .embedding import aquery_vector, query_vector
from .fusion import Match, RetrievedNode, reciprocal_rank_fusion
from .stores.contract import Store
from .stores.vectors import checked_vector

T = TypeVar("T")

DEFAULT_TOP_K: Final = 8
DENSE: Final = "dense"
KEYWORD: Final = "keyword"


class VectorIndexRetriever:
    """Finds the passages nearest in meaning.

    Args:
        store: The passages.
        embed_model: The model that made the store's vectors.
        similarity_top_k: The most passages returned.
        filters: Conditions every passage must meet.
    """

    def __init__(
        self,
        store: Store,
        embed_model: Embedder | None,
        *,
        similarity_top_k: int = DEFAULT_TOP_K,
        filters: MetadataFilters | None = None,
    ) -> None:
        self._store = store
        self._embed_model = embed_model
        self._top_k = _checked_top_k(similarity_top_k)
        self._filters = filters

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the nearest passages, best first, scored by cosine similarity."""
        vector = self.query_vector(as_query(query))
        return _dense(self._store.dense_search(vector, self._top_k, self._filters))

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the nearest passages, best first, scored by cosine similarity."""
        vector = await self.aquery_vector(as_query(query))
        return _dense(await self._store.adense_search(vector, self._top_k, self._filters))

    def query_vector(self, query: QueryBundle) -> array[float]:
        """Return the vector searched with, of length one: the query's own, or that of its texts.

        Raises:
            MissingPart: There is no embedding model and the query brings no vector.
            EmbeddingMismatch: The vector has not the index's number of dimensions.
        """
        if query.embedding is not None:
            return self._checked(query.embedding)
        model = self._model()
        return self._mean([query_vector(model, text, self._store) for text in _texts(query)])

    async def aquery_vector(self, query: QueryBundle) -> array[float]:
        """Return the vector searched with, of length one: the query's own, or that of its texts.

        Raises:
            MissingPart: There is no embedding model and the query brings no vector.
            EmbeddingMismatch: The vector has not the index's number of dimensions.
        """
        if query.embedding is not None:
            return self._checked(query.embedding)
        model = self._model()
        return self._mean(await _gathered([aquery_vector(model, text, self._store) for text in _texts(query)]))

    def _mean(self, vectors: Sequence[array[float]]) -> array[float]:
        if len(vectors) == 1:
            return vectors[0]
        return self._checked([sum(column) for column in zip(*vectors, strict=True)])

    def _model(self) -> Embedder:
        if self._embed_model is None:
            raise MissingPart(f"the embedding model {self._store.meta.embed_model} (embed_model)", type(self).__name__)
        return self._embed_model

    def _checked(self, vector: Sequence[float]) -> array[float]:
        return checked_vector(vector, self._store, self._embed_model.model_name if self._embed_model else None)


class BM25Retriever:
    """Finds the passages that share words with the question, rare words counting most.

    Args:
        store: The passages.
        similarity_top_k: The most passages returned.
        filters: Conditions every passage must meet.
    """

    def __init__(
        self, store: Store, *, similarity_top_k: int = DEFAULT_TOP_K, filters: MetadataFilters | None = None
    ) -> None:
        self._store = store
        self._top_k = _checked_top_k(similarity_top_k)
        self._filters = filters

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the best passages, scored by BM25."""
        return _keyword(self._store.keyword_search(as_query(query).query_str, self._top_k, self._filters))

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the best passages, scored by BM25."""
        return _keyword(await self._store.akeyword_search(as_query(query).query_str, self._top_k, self._filters))


class HybridRetriever:
    """Finds passages by meaning and by words, and merges both lists by reciprocal rank.

    Every passage returned carries its place and score in both searches (`RetrievedNode.matches`) and its cosine
    similarity.

    Args:
        store: The passages.
        embed_model: The model that made the store's vectors.
        similarity_top_k: The most passages returned.
        filters: Conditions every passage must meet.
        dense_weight: How much the search by meaning counts.
        keyword_weight: How much the search by words counts.
        candidates: How many passages each search brings to the merging; four times `similarity_top_k`, and at least
            32, where None.

    Raises:
        InvalidOption: A number is out of range.
    """

    def __init__(
        self,
        store: Store,
        embed_model: Embedder | None,
        *,
        similarity_top_k: int = DEFAULT_TOP_K,
        filters: MetadataFilters | None = None,
        dense_weight: float = 1.0,
        keyword_weight: float = 1.0,
        candidates: int | None = None,
    ) -> None:
        self._store = store
        self._top_k = _checked_top_k(similarity_top_k)
        self._weights = {DENSE: dense_weight, KEYWORD: keyword_weight}
        for name, weight in self._weights.items():
            if not weight >= 0:
                raise InvalidOption(f"{name}_weight", weight, "a number of at least 0")
        depth = max(4 * similarity_top_k, 32) if candidates is None else _checked_top_k(candidates, "candidates")
        self._dense = VectorIndexRetriever(store, embed_model, similarity_top_k=depth, filters=filters)
        self._keyword = BM25Retriever(store, similarity_top_k=depth, filters=filters)
        self._depth = depth
        self._filters = filters

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the best passages of both searches, scored by reciprocal rank."""
        query = as_query(query)
        vector = self._dense.query_vector(query)
        dense = self._store.dense_search(vector, self._depth, self._filters)
        fused = self._fused(dense, self._keyword.retrieve(query))
        measured = self._store.similarities(vector, unmeasured) if (unmeasured := _unmeasured(fused)) else {}
        return _with_similarities(fused, measured)

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the best passages of both searches, scored by reciprocal rank."""
        query = as_query(query)

        async def dense_search() -> tuple[array[float], list[NodeWithScore]]:
            vector = await self._dense.aquery_vector(query)
            return vector, await self._store.adense_search(vector, self._depth, self._filters)

        async def keyword_search() -> tuple[array[float], list[NodeWithScore]]:
            return array("f"), await self._keyword.aretrieve(query)

        (vector, dense), (_, keyword) = await _gathered([dense_search(), keyword_search()])
        fused = self._fused(dense, keyword)
        measured = await self._store.asimilarities(vector, unmeasured) if (unmeasured := _unmeasured(fused)) else {}
        return _with_similarities(fused, measured)

    def _fused(self, dense: list[NodeWithScore], keyword: list[NodeWithScore]) -> list[RetrievedNode]:
        lists = {DENSE: _dense(dense), KEYWORD: keyword}
        return reciprocal_rank_fusion(lists, top_k=self._top_k, weights=self._weights)


class QueryFusionRetriever:
    """Asks several retrievers and merges their lists by reciprocal rank.

    Args:
        retrievers: The retrievers, of any kind.
        similarity_top_k: The most passages returned.
        mode: How lists are merged; "reciprocal_rerank" is the one there is.
        retriever_weights: How much each retriever counts, in their order; all the same where None.
        num_queries: How many wordings of the question are searched for; 1, the question itself, is the one there is.

    Raises:
        InvalidOption: There is no retriever, a mode or number of queries that is not there, or not one weight a
            retriever.
    """

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        *,
        similarity_top_k: int = DEFAULT_TOP_K,
        mode: str = "reciprocal_rerank",
        retriever_weights: Sequence[float] | None = None,
        num_queries: int = 1,
    ) -> None:
        if not retrievers:
            raise InvalidOption("retrievers", [], "at least one retriever")
        if mode != "reciprocal_rerank":
            raise InvalidOption("mode", mode, "reciprocal_rerank")
        if num_queries != 1:
            raise InvalidOption("num_queries", num_queries, "1")
        if retriever_weights is not None and len(retriever_weights) != len(retrievers):
            raise InvalidOption("retriever_weights", list(retriever_weights), "one weight a retriever")
        self._retrievers = tuple(retrievers)
        self._top_k = _checked_top_k(similarity_top_k)
        self._weights = {str(n): weight for n, weight in enumerate(retriever_weights or (), start=1)}

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the best passages of all retrievers, scored by reciprocal rank.

        Each passage's `matches` name the retrievers by their number, from "1".
        """
        return self._fused([retriever.retrieve(query) for retriever in self._retrievers])

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        """Return the best passages of all retrievers, asked at the same time, scored by reciprocal rank.

        Each passage's `matches` name the retrievers by their number, from "1".
        """
        return self._fused(await _gathered([retriever.aretrieve(query) for retriever in self._retrievers]))

    def _fused(self, results: Sequence[list[NodeWithScore]]) -> list[NodeWithScore]:
        lists = {str(number): found for number, found in enumerate(results, start=1)}
        return list(reciprocal_rank_fusion(lists, top_k=self._top_k, weights=self._weights))


def _checked_top_k(value: int, name: str = "similarity_top_k") -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidOption(name, value, "a whole number of at least 1")
    return value


def _texts(query: QueryBundle) -> tuple[str, ...]:
    return query.custom_embedding_strs or (query.query_str,)


def _dense(found: list[NodeWithScore]) -> list[NodeWithScore]:
    return [
        RetrievedNode(one.node, one.score, {DENSE: Match(rank, one.score)}, one.score)
        for rank, one in enumerate(found, start=1)
    ]


def _keyword(found: list[NodeWithScore]) -> list[NodeWithScore]:
    return [
        RetrievedNode(one.node, one.score, {KEYWORD: Match(rank, one.score)}) for rank, one in enumerate(found, start=1)
    ]


def _unmeasured(found: list[RetrievedNode]) -> list[str]:
    return [one.node_id for one in found if one.similarity is None]


def _with_similarities(found: list[RetrievedNode], measured: dict[str, float]) -> list[NodeWithScore]:
    return [replace(one, similarity=measured.get(one.node_id)) if one.similarity is None else one for one in found]


async def _gathered(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Await all at the same time; the first failure cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [task.result() for task in tasks]
