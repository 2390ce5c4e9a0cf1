"""Postprocessors that leave passages out: too far, without a word or with one, found twice."""

from __future__ import annotations

from collections.abc import Sequence

from responsa.retrieval.fusion import RetrievedNode
from responsa.schema.nodes import NodeWithScore, QueryBundle
from responsa.tokens.words import words

from .base import BaseNodePostprocessor


class SimilarityPostprocessor(BaseNodePostprocessor):
    """Leaves out passages that are not similar enough to the question.

    What is compared is the cosine similarity where it was measured, as it is for every passage of a dense or hybrid
    search (`RetrievedNode.similarity`), whichever search found the passage: fused scores say only how high a passage
    stood in the lists. Of other passages the score is compared. A passage with neither is left out.

    Args:
        similarity_cutoff: The least similarity kept. What it means depends on the embedding model: models of the e5
            family give unrelated texts about 0.75.
    """

    def __init__(self, similarity_cutoff: float = 0.0) -> None:
        self.similarity_cutoff = similarity_cutoff

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query: QueryBundle | None) -> list[NodeWithScore]:
        return [node for node in nodes if (value := _similarity(node)) is not None and value >= self.similarity_cutoff]


def _similarity(node: NodeWithScore) -> float | None:
    if isinstance(node, RetrievedNode) and node.similarity is not None:
        return node.similarity
    return node.score


class KeywordNodePostprocessor(BaseNodePostprocessor):
    """Keeps passages that hold one of the required keywords and none of the excluded.

    A keyword may have several words; it stands in a passage if all of its search words do, whatever their case,
    width, ending or order.

    Args:
        required_keywords: One of them must stand in a passage; nothing is required where there are none.
        exclude_keywords: None of them may.
    """

    def __init__(self, required_keywords: Sequence[str] = (), exclude_keywords: Sequence[str] = ()) -> None:
        self._required = [frozenset(words(keyword)) for keyword in required_keywords]
        self._excluded = [frozenset(words(keyword)) for keyword in exclude_keywords]

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query: QueryBundle | None) -> list[NodeWithScore]:
        return [node for node in nodes if self._keeps(frozenset(words(node.text)))]

    def _keeps(self, found: frozenset[str]) -> bool:
        if self._required and not any(keyword <= found for keyword in self._required):
            return False
        return not any(keyword <= found for keyword in self._excluded if keyword)


class DedupPostprocessor(BaseNodePostprocessor):
    """Keeps the first of passages with the same identity, or the same words in the same order."""

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query: QueryBundle | None) -> list[NodeWithScore]:
        seen: set[object] = set()
        kept: list[NodeWithScore] = []
        for node in nodes:
            content = tuple(words(node.text)) or (node.text,)
            if node.node_id not in seen and content not in seen:
                kept.append(node)
            seen.update((node.node_id, content))
        return kept
