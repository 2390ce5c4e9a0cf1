"""The sources of an answer: their titles, places, and the sentences that support it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from responsa.schema.citations import Citation
from responsa.schema.excerpts import excerpt
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.plans import Shown
from responsa.schema.response import Response

from . import places

if TYPE_CHECKING:
    from .terminal import Terminal

QUOTE_CHARACTERS: Final = 300
# Below it the model cites a passage in which little of what it says is found.
WEAK_SUPPORT: Final = 0.2


def write_sources(response: Response, terminal: Terminal) -> None:
    """Write every source: those the answer cites with the quoted sentences, the others with their place."""
    if not response.source_nodes:
        return
    cited: dict[int, dict[tuple[int, int], Citation]] = {}
    for citation in response.citations:
        if citation.known:
            cited.setdefault(citation.number, {}).setdefault(citation.quote, citation)
    shown = {row.number: row.shown for row in response.coverage}
    terminal.write("\n" + terminal.text("sources"), "bold")
    for number, source in enumerate(response.source_nodes, 1):
        quotes = [citation for citation in cited.get(number, {}).values() if citation.quoted]
        terminal.write(f"[{number}] {places.title(source)}", "" if number in cited else "dim", end="")
        terminal.write(_mark(shown.get(number), terminal, cited=number in cited), "dim")
        if not quotes:
            terminal.write(f"    {places.place(source, terminal)}", "dim")
        for citation in quotes:
            terminal.write(f"    {places.place(source, terminal, citation.quote)}", "dim")
            quote = terminal.text("quote", text=excerpt(citation.quoted, QUOTE_CHARACTERS))
            weak = " " + terminal.text("weak") if citation.support < WEAK_SUPPORT else ""
            terminal.write(f"    {quote}", end="")
            terminal.write(weak, "yellow")
    if any(citation.origin == "engine" for citation in response.citations):
        terminal.write(terminal.text("legend"), "dim")


def _mark(shown: Shown | None, terminal: Terminal, *, cited: bool) -> str:
    if shown is None or shown is Shown.WHOLE:
        return "" if cited else " " + terminal.text("not_cited")
    return " " + terminal.text(f"shown_{shown.value}")


def write_stored_sources(sources: Any, terminal: Terminal) -> bool:
    """Write the titles and places of sources as a chat engine stored them; return whether there were any."""
    known = [source for source in sources if isinstance(source, Mapping)] if isinstance(sources, Sequence) else []
    if known:
        terminal.write("\n" + terminal.text("sources"), "bold")
    for number, source in enumerate(known, 1):
        metadata = source.get("metadata")
        node = TextNode(
            str(source.get("text", "")),
            id_=str(source.get("node_id", "")),
            metadata=dict(metadata) if isinstance(metadata, Mapping) else {},
        )
        terminal.write(f"[{number}] {places.title(NodeWithScore(node))}")
        terminal.write(f"    {places.place(NodeWithScore(node), terminal)}", "dim")
    return bool(known)
