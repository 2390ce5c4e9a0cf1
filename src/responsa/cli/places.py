"""How a source and its place are named to a person."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from responsa.schema.nodes import NodeWithScore

if TYPE_CHECKING:
    from .terminal import Terminal


def title(source: NodeWithScore) -> str:
    """Return a source's title path, or what comes nearest to it."""
    metadata = source.metadata
    for key in ("title_path", "title", "question", "file_name", "url"):
        if metadata.get(key):
            return " ".join(str(metadata[key]).split())
    return source.node_id


def place(source: NodeWithScore, terminal: Terminal, span: tuple[int, int] | None = None) -> str:
    """Return where a source stands: its file or address, its page, and a range of characters.

    Args:
        source: The passage.
        terminal: Whose language is spoken.
        span: A range in the passage's text, in characters; the whole passage where None.
    """
    metadata = source.metadata
    parts = [str(metadata.get("url") or shown_path(str(metadata.get("file_path") or metadata.get("file_name") or "")))]
    if metadata.get("page"):
        parts.append(terminal.text("page", page=metadata["page"]))
    start = source.node.start_char_idx
    if start is not None:
        first, last = span if span is not None else (0, len(source.text))
        parts.append(terminal.text("characters", start=start + first, end=start + last))
    return terminal.text("comma").join(part for part in parts if part)


def shown_path(path: str) -> str:
    """Return a path below the working directory without it, any other as it is; on one line whatever is in it."""
    path = " ".join(path.splitlines())
    try:
        return str(Path(path).relative_to(Path.cwd())) if path else ""
    except (ValueError, OSError):
        return path


def documents_of(sources: Sequence[NodeWithScore]) -> int:
    """Return how many documents the passages come from."""
    return len({source.node.ref_doc_id or source.metadata.get("file_path") or source.node_id for source in sources})
