"""An answer's sources as a list of footnotes at its end, for clients that show nothing but text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from responsa.schema.citations import Citation
from responsa.schema.nodes import NodeWithScore

from ..answering.hits import safe_url

_RULE: Final = "\n\n---\n"
_LIST: Final = re.compile(r"\n\n---\n(?:\[\d+\] [^\n]*(?:\n|\Z))+\Z")
_LONGEST_TITLE: Final = 200


def footnotes(citations: Sequence[Citation], sources: Sequence[NodeWithScore]) -> str:
    """Return the cited sources under a rule, a line each, in the order of their numbers; nothing if none is cited."""
    numbers = sorted({citation.number for citation in citations if citation.known})
    lines = [_line(number, sources[number - 1]) for number in numbers if 0 < number <= len(sources)]
    return _RULE + "\n".join(lines) if lines else ""


def without_footnotes(text: str) -> str:
    """Return an earlier answer as it was written, without the list that was put under it."""
    return _LIST.sub("", text)


def _line(number: int, source: NodeWithScore) -> str:
    metadata = source.metadata
    url = safe_url(metadata.get("url"))
    title = " ".join(str(metadata.get("title") or source.text).split())[:_LONGEST_TITLE]
    page = metadata.get("page")
    parts = [title, f"p. {page}" if isinstance(page, int) else "", "".join(url.split()) if url else ""]
    return f"[{number}] " + ", ".join(part for part in parts if part)
