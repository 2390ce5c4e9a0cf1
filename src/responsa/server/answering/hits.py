"""Passages as hits: what their metadata says, under the names that clients know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from responsa.schema.citations import Citation
from responsa.schema.nodes import NodeWithScore
from responsa.schema.plans import SourceCoverage

_TEXTS: Final = ("title", "category", "question", "answer", "full_answer", "summary", "date")
# Where a file lies is the operator's business.
HIDDEN: Final = frozenset(["file_path"])
_LEFT_OUT: Final = frozenset([*_TEXTS, "url", "page", *HIDDEN])


def hits_of(
    sources: Sequence[NodeWithScore],
    *,
    first: int = 1,
    coverage: Sequence[SourceCoverage] = (),
    citations: Sequence[Citation] = (),
) -> list[dict[str, Any]]:
    """Return passages as JSON values.

    Args:
        sources: The passages.
        first: The number of the first.
        coverage: How much of each was shown to a model.
        citations: The citations of the answer, each of which goes with its passage.
    """
    shown = {row.number: row.shown.value for row in coverage}
    spans: dict[int, list[dict[str, Any]]] = {}
    for citation in citations:
        spans.setdefault(citation.number, []).append(citation_json(citation))
    return [
        {
            **_hit(source, number),
            "shown": shown.get(number, "not"),
            "cited": number in spans,
            "spans": spans.get(number, []),
        }
        for number, source in enumerate(sources, first)
    ]


def citation_json(citation: Citation) -> dict[str, Any]:
    """Return a citation as JSON values."""
    values = asdict(citation)
    values["id"] = values.pop("node_id")
    for name in ("sentence", "quote"):
        start, end = values[name]
        values[name] = {"start": start, "end": end}
    return values


def safe_url(value: object) -> str | None:
    """Return an address that a page may link to, or None."""
    text = str(value or "").strip()
    return text if text.lower().startswith(("http://", "https://")) else None


def _hit(source: NodeWithScore, number: int) -> dict[str, Any]:
    metadata = source.metadata
    page = metadata.get("page")
    extra = metadata["extra"] if isinstance(metadata.get("extra"), dict) else None
    left_out = _LEFT_OUT if extra is None else _LEFT_OUT | {"extra"}
    return {
        "number": number,
        "id": source.node_id,
        "document_id": source.node.ref_doc_id,
        "text": source.text,
        "score": source.score,
        **{name: None if metadata.get(name) is None else str(metadata[name]) for name in _TEXTS},
        "url": safe_url(metadata.get("url")),
        "extra": extra,
        "page": page if isinstance(page, int) and not isinstance(page, bool) else None,
        "metadata": {name: value for name, value in metadata.items() if name not in left_out},
    }
