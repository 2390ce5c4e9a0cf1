"""Merging several ranked lists of passages into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from responsa.schema.errors import InvalidOption
from responsa.schema.nodes import NodeWithScore, TextNode

RRF_K: Final = 60


@dataclass(frozen=True, slots=True)
class Match:
    """How one search found a passage.

    Args:
        rank: The passage's place in that search's results, from 1.
        score: That search's own score: cosine similarity, BM25, or whatever it measures.
    """

    rank: int
    score: float | None


@dataclass(slots=True)
class RetrievedNode(NodeWithScore):
    """A passage found by one or several searches, with what each of them measured.

    `score` is what the list is ordered by: the fused score where several searches were merged.

    Args:
        matches: How each search found the passage, by the search's name ("dense", "keyword"). A search that did not
            find it is absent.
        similarity: The cosine similarity of question and passage, -1 to 1, where it was measured: also for passages
            that only the keyword search found.
    """

    matches: Mapping[str, Match] = field(default_factory=dict)
    similarity: float | None = None


def reciprocal_rank_fusion(
    results: Mapping[str, Sequence[NodeWithScore]],
    *,
    top_k: int | None = None,
    weights: Mapping[str, float] | None = None,
    k: int = RRF_K,
) -> list[RetrievedNode]:
    """Merge ranked lists: a passage scores the sum of `weight / (k + rank)` over the lists that hold it.

    The given lists and nodes are left as they are. Passages of equal score are ordered by their best rank, then by
    identity.

    Args:
        results: Lists of passages, best first, by the name of the search that made them. A passage that stands twice
            in a list counts at its better place.
        top_k: How many passages to return; all where None.
        weights: How much a list counts, by name; 1 where it is not named.
        k: The larger, the less the first places stand out.

    Raises:
        InvalidOption: A weight is negative, or named for no list.
    """
    weights = weights or {}
    for name, weight in weights.items():
        if name not in results:
            raise InvalidOption("weights", name, f"a name among {', '.join(results)}")
        if not weight >= 0:
            raise InvalidOption("weights", weight, "a number of at least 0")
    nodes: dict[str, TextNode] = {}
    matches: dict[str, dict[str, Match]] = {}
    similarities: dict[str, float | None] = {}
    for name, ranked in results.items():
        for rank, found in enumerate(ranked, start=1):
            node_id = found.node_id
            nodes.setdefault(node_id, found.node)
            matches.setdefault(node_id, {}).setdefault(name, Match(rank, found.score))
            if isinstance(found, RetrievedNode) and similarities.get(node_id) is None:
                similarities[node_id] = found.similarity
    scores = {
        node_id: sum(weights.get(name, 1.0) / (k + match.rank) for name, match in by_name.items())
        for node_id, by_name in matches.items()
    }

    def order(node_id: str) -> tuple[float, int, str]:
        return -scores[node_id], min(match.rank for match in matches[node_id].values()), node_id

    return [
        RetrievedNode(nodes[node_id], scores[node_id], matches[node_id], similarities.get(node_id))
        for node_id in sorted(nodes, key=order)[:top_k]
    ]
