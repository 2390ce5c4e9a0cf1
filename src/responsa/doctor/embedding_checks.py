"""Rows on what a server's vectors are like."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..schema.errors import ServerTimeout
from .connection import ServerSeen
from .finding import Finding, fault, not_checked, ok, warning
from .prefixes import wanted_prefixes
from .probing import Tried
from .servers import EmbeddingServer, IndexFacts

Vector: TypeAlias = list[float]

# Two vectors of one text are the same up to rounding: their cosine is above this.
SAME: Final = 0.9999


@dataclass(slots=True)
class EmbeddingSeen:
    """What an embedding server answered; None where it was not asked.

    Args:
        server: What it said of itself.
        settings: The server as it is configured.
        model_name: The model asked for.
        index: What the index remembers, if there is one.
        query: The vector of a text as a query, as configured.
        passage: The vector of the same text as a passage, as configured.
        plain: Its vector without prefix and further fields.
        told_query: Its vector where the server is told that it is a query.
        told_passage: Its vector where the server is told that it is a passage.
    """

    server: ServerSeen
    settings: EmbeddingServer
    model_name: str
    index: IndexFacts | None = None
    query: Tried[Vector] = None
    passage: Tried[Vector] = None
    plain: Tried[Vector] = None
    told_query: Tried[Vector] = None
    told_passage: Tried[Vector] = None


def check_dimension(seen: EmbeddingSeen) -> Finding:
    """Compare the vectors with what was asked for and with the index."""
    if not isinstance(seen.query, list):
        return not_checked("dimension") if seen.query is None else fault("dimension", "no_vector", error=seen.query)
    dimensions, asked, index = len(seen.query), seen.settings.dimensions, seen.index
    if asked is not None and dimensions != asked:
        return fault("dimension", "dimensions_ignored", asked=asked, dimensions=dimensions)
    if index is None:
        return ok("dimension", "dimension_alone", dimensions=dimensions)
    if index.embed_model != seen.model_name:
        return fault("dimension", "index_of_other_model", model=seen.model_name, index_model=index.embed_model)
    if index.dimensions != dimensions:
        return fault("dimension", "index_of_other_dimension", dimensions=dimensions, index_dimensions=index.dimensions)
    return ok("dimension", "dimension_fits", dimensions=dimensions)


def check_prefix(seen: EmbeddingSeen) -> Finding:
    """Say whether queries and passages are told apart the way the model wants it."""
    for tried in (seen.query, seen.passage, seen.plain):
        if isinstance(tried, ServerTimeout):
            return warning("prefix", "time_up", seconds=tried.seconds)
        if not isinstance(tried, list):
            return not_checked("prefix")
    wanted = wanted_prefixes(seen.model_name)
    given = (seen.settings.query_prefix.strip(), seen.settings.text_prefix.strip())
    listens = _differ(seen.told_query, seen.told_passage)
    if listens and any(given) and not (_differ(seen.plain, seen.told_query) and _differ(seen.plain, seen.told_passage)):
        return warning("prefix", "prefix_twice")
    if listens and not _differ(seen.query, seen.passage):
        return warning("prefix", "input_type_missing")
    if not any(given) and _differ(seen.query, seen.passage):
        return ok("prefix", "told_apart_by_server")
    if wanted is None:
        return ok("prefix", "no_prefix_known", model=seen.model_name)
    names = {"model": seen.model_name, "query": wanted.query, "text": wanted.text}
    if given == (wanted.query.strip(), wanted.text.strip()):
        return ok("prefix", "prefix_set", **names)
    return warning("prefix", "prefix_wrong" if any(given) else "prefix_missing", **names)


def _differ(one: Tried[Vector], other: Tried[Vector]) -> bool:
    """Tell whether two vectors point in different directions."""
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return False
    return _dot(one, other) < SAME * math.sqrt(_dot(one, one) * _dot(other, other))


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))
