"""Sessions and their messages as JSON values, without what is the operator's alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from responsa.schema.citations import Citation
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.stored import StoredMessage

from ..answering.hits import HIDDEN, citation_json, hits_of


def message_json(message: StoredMessage) -> dict[str, Any]:
    """Return a stored message as JSON values, with the hits and citations of an answer."""
    extra = message.extra
    sources = _mappings(extra.get("sources"))
    citations = [_citation(one) for one in _mappings(extra.get("citations"))]
    hits = hits_of([_node(source) for source in sources], citations=citations)
    for hit, source in zip(hits, sources, strict=True):
        hit["shown"] = source.get("shown", "not")
    shown = {
        "id": message.id,
        "turn": message.turn or message.id,
        "role": message.role.value,
        "content": message.content,
        "status": message.status,
        "reason": message.reason,
        "reasoning": message.reasoning,
        "created": message.created,
        "outcome": extra.get("outcome"),
        "searched_with": extra.get("searched_with"),
        "hits": hits,
        "citations": [citation_json(one) for one in citations],
        "earlier": _mappings(extra.get("earlier")),
    }
    # Half a character, which a model may write, has no encoding.
    encoded: dict[str, Any] = json.loads(json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"))
    return encoded


def public(message: StoredMessage) -> StoredMessage:
    """Return a message without the names of the operator's files."""
    sources = [
        {
            **source,
            "metadata": {name: value for name, value in (source.get("metadata") or {}).items() if name not in HIDDEN},
        }
        for source in _mappings(message.extra.get("sources"))
    ]
    return replace(message, extra={**message.extra, "sources": sources}) if sources else message


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [dict(one) for one in value if isinstance(one, Mapping)] if isinstance(value, Sequence) else []


def _node(source: Mapping[str, Any]) -> NodeWithScore:
    node = TextNode(str(source.get("text", "")), metadata=dict(source.get("metadata") or {}))
    node.id_ = str(source.get("node_id", ""))
    node.ref_doc_id = source.get("ref_doc_id")
    return NodeWithScore(node, source.get("score"))


def _citation(values: Mapping[str, Any]) -> Citation:
    return Citation(
        number=values["number"],
        node_id=str(values.get("node_id", "")),
        origin=values["origin"],
        sentence=_span(values["sentence"]),
        quote=_span(values["quote"]),
        quoted=str(values.get("quoted", "")),
        support=float(values.get("support", 0.0)),
        known=bool(values["known"]),
    )


def _span(value: Sequence[int]) -> tuple[int, int]:
    start, end = value
    return start, end
