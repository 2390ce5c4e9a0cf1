"""A postprocessor that has a model score the passages anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from responsa.retrieval.fusion import Match, RetrievedNode
from responsa.schema.errors import InvalidOption, MissingArgument, RetrievalFailed
from responsa.schema.nodes import MetadataMode, NodeWithScore, QueryBundle
from responsa.schema.protocols import Reranker

from .base import query_of

RERANK: Final = "rerank"


class Rerank:
    """Orders passages by how well a reranking model says they answer the question, and keeps the best.

    The new nodes carry the model's score; a `RetrievedNode` keeps what its searches measured, with the model's own
    score and place beside it as `matches["rerank"]`.

    Args:
        reranker: The model, such as the one behind a server's `/v1/rerank`.
        top_n: The most passages kept; all where None.

    Raises:
        InvalidOption: `top_n` is less than 1.
    """

    def __init__(self, reranker: Reranker, *, top_n: int | None = None) -> None:
        if top_n is not None and top_n < 1:
            raise InvalidOption("top_n", top_n, "a whole number of at least 1")
        self._reranker = reranker
        self._top_n = top_n

    def postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]:
        """Return the best passages in the model's order.

        Raises:
            MissingArgument: No question was given.
            RetrievalFailed: The model gave something else than a score a passage.
        """
        query = _question(query_bundle, query_str)
        return self._ordered(nodes, self._reranker.rerank(query, _texts(nodes)) if nodes else [])

    async def apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]:
        """Return the best passages in the model's order.

        Raises:
            MissingArgument: No question was given.
            RetrievalFailed: The model gave something else than a score a passage.
        """
        query = _question(query_bundle, query_str)
        return self._ordered(nodes, await self._reranker.arerank(query, _texts(nodes)) if nodes else [])

    def _ordered(self, nodes: list[NodeWithScore], scores: Sequence[float]) -> list[NodeWithScore]:
        if len(scores) != len(nodes):
            raise RetrievalFailed(f"the reranker gave {len(scores)} scores for {len(nodes)} passages.")
        if not all(map(math.isfinite, scores)):
            raise RetrievalFailed("the reranker gave a score that is not a finite number.")
        best_first = sorted(zip(nodes, scores, strict=True), key=lambda pair: -pair[1])[: self._top_n]
        return [_rescored(node, score, rank) for rank, (node, score) in enumerate(best_first, start=1)]


def _rescored(node: NodeWithScore, score: float, rank: int) -> NodeWithScore:
    if isinstance(node, RetrievedNode):
        return replace(node, score=score, matches={**node.matches, RERANK: Match(rank, score)})
    return replace(node, score=score)


def _question(query_bundle: QueryBundle | None, query_str: str | None) -> str:
    query = query_of(query_bundle, query_str)
    if query is None:
        raise MissingArgument("the question (query_bundle or query_str)", "Rerank")
    return query.query_str


def _texts(nodes: list[NodeWithScore]) -> list[str]:
    return [node.get_content(MetadataMode.EMBED) for node in nodes]
