"""`responsa search`: the passages found for some words, without a model that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from typer import Argument, Context, Option

from responsa.schema.errors import InvalidOption
from responsa.schema.excerpts import excerpt

from .options import (
    DEFAULT_INDEX,
    DEFAULT_TOP_K,
    AsJson,
    EmbedApiBase,
    EmbedApiKey,
    EmbedModel,
    IndexDir,
    TopK,
    server_choice,
)

if TYPE_CHECKING:
    from .terminal import Terminal

# What a person calls a search, and what the index calls it.
KINDS: Final = {"hybrid": "hybrid", "meaning": "default", "words": "text_search"}
EXCERPT_CHARACTERS: Final = 240


def search(
    context: Context,
    words: Annotated[str, Argument(metavar="WORDS", help="What to look for.")],
    index: IndexDir = DEFAULT_INDEX,
    top_k: TopK = DEFAULT_TOP_K,
    by: Annotated[str, Option("--by", help="Search by meaning, by words, or by both: hybrid.")] = "hybrid",
    as_json: AsJson = False,
    embed_api_base: EmbedApiBase = None,
    embed_model: EmbedModel = None,
    embed_api_key: EmbedApiKey = None,
) -> int:
    """Show the passages found, without an answer."""
    from responsa.response_synthesizers.question import checked_question

    from . import json_view, places

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    if by not in KINDS:
        raise InvalidOption("--by", by, ", ".join(KINDS))
    checked_question(words)
    choice = server_choice(embed_api_base, embed_model, embed_api_key)
    passages = terminal.parts.index_to_search(index, choice, needs_embedder=by != "words")
    found = passages.as_retriever(top_k, vector_store_query_mode=KINDS[by]).retrieve(words)
    if as_json:
        json_view.write({"query": words, "sources": json_view.sources(found)})
        return 0
    if not found:
        terminal.write(terminal.text("nothing_found"))
    for number, source in enumerate(found, 1):
        terminal.write(f"[{number}] {places.title(source)}", "bold", end="")
        terminal.write("" if source.score is None else f"  {source.score:.4f}", "dim")
        terminal.write(f"    {places.place(source, terminal)}", "dim")
        terminal.write(f"    {excerpt(source.text, EXCERPT_CHARACTERS)}")
    return 0
