"""Embedding models that want words before queries or passages, by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model was trained to see before a text.

    Args:
        query: Before a query.
        text: Before a passage.
    """

    query: str
    text: str = ""


_SENTENCE: Final = Prefixes("Represent this sentence for searching relevant passages: ")
_INSTRUCT: Final = Prefixes(
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

# The first that fits counts; None is a family that wants nothing.
_FAMILIES: Final[tuple[tuple[str, Prefixes | None], ...]] = (
    (r"e5-.*instruct|e5-mistral|qwen3-embedding", _INSTRUCT),
    (r"(?:^|[-_/ ])e5-", Prefixes("query: ", "passage: ")),
    (r"nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    (r"arctic-embed.*v2", Prefixes("query: ")),
    (r"arctic-embed|mxbai-embed", _SENTENCE),
    (r"bge-m3", None),
    (r"bge-.*-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"bge-.*-en", _SENTENCE),
    (r"embedding-?gemma", Prefixes("task: search result | query: ", "title: none | text: ")),
)


def wanted_prefixes(model_name: str) -> Prefixes | None:
    """Return what a model wants before its texts, or None where nothing is known."""
    name = model_name.lower()
    return next((prefixes for pattern, prefixes in _FAMILIES if re.search(pattern, name)), None)
