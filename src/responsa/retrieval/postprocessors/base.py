"""What the postprocessors that ask no model share."""

from __future__ import annotations

from abc import ABC, abstractmethod

from responsa.schema.nodes import NodeWithScore, QueryBundle


class BaseNodePostprocessor(ABC):
    """Filters or reorders passages; a subclass writes `_postprocess_nodes`, which blocks on nothing.

    The given list and nodes are never changed.
    """

    def postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]:
        """Return what is left of the passages, in the new order.

        Args:
            nodes: The passages, best first.
            query_bundle: The question; or
            query_str: its text.
        """
        return self._postprocess_nodes(nodes, query_of(query_bundle, query_str))

    async def apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]:
        """Return what is left of the passages, in the new order."""
        return self._postprocess_nodes(nodes, query_of(query_bundle, query_str))

    @abstractmethod
    def _postprocess_nodes(self, nodes: list[NodeWithScore], query: QueryBundle | None) -> list[NodeWithScore]: ...


def query_of(query_bundle: QueryBundle | None, query_str: str | None) -> QueryBundle | None:
    """Return the question that was given in either form."""
    if query_bundle is None and query_str is not None:
        return QueryBundle(query_str)
    return query_bundle
