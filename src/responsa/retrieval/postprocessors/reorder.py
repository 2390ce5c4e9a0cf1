"""A postprocessor that changes the order only."""

from __future__ import annotations

from responsa.schema.nodes import NodeWithScore, QueryBundle

from .base import BaseNodePostprocessor


class LongContextReorder(BaseNodePostprocessor):
    """Puts the best passages at both ends and the weakest in the middle, which long prompts lose sight of.

    The best comes first, the second best last, the third best second, and so on.
    """

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query: QueryBundle | None) -> list[NodeWithScore]:
        best_first = sorted(nodes, key=lambda node: -node.get_score())
        return best_first[::2] + best_first[1::2][::-1]
