"""Examining a server that embeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..embeddings.openai_like import OpenAILikeEmbedding
from ..http.client import HTTPClient
from ..schema.errors import ServerError
from .connection import aobserve_server, check_connection, check_model
from .embedding_checks import EmbeddingSeen, check_dimension, check_prefix
from .finding import Finding
from .probing import Probing
from .servers import EmbeddingServer, IndexFacts, client_options

DEFAULT_SECONDS: Final = 60.0
TEXT: Final = "The harbour library opens at nine."
# How servers that know their model's prefixes are told what a text is.
AS_QUERY: Final[Mapping[str, Any]] = {"input_type": "query"}
AS_PASSAGE: Final[Mapping[str, Any]] = {"input_type": "passage"}


async def aexamine_embedding_server(
    server: EmbeddingServer,
    *,
    index: IndexFacts | None = None,
    seconds: float = DEFAULT_SECONDS,
    transport: Any = None,
) -> list[Finding]:
    """Examine a server that embeds; every row is there, also where it could not be looked at.

    Args:
        server: The server.
        index: What the index it is meant for remembers of its model.
        seconds: The longest the examination may take.
        transport: An httpx2 transport to use instead of the network, for tests.
    """
    options = client_options(server, seconds, transport)
    client = HTTPClient(server.api_base, **options)
    try:
        probing = Probing(client, seconds)
        said = await aobserve_server(
            probing, server.model_name, has_key=server.api_key is not None, template_fields=None
        )
        seen = EmbeddingSeen(said, server, server.model_name or said.known.model or "default", index)
        if not isinstance(said.served, ServerError | None):
            await _aobserve_vectors(probing, seen, options)
    finally:
        await client.aclose()
    return [
        *check_connection(seen.server, seen.query),
        check_model(seen.server, must_be_listed=False, answer=seen.query),
        check_dimension(seen),
        check_prefix(seen),
    ]


async def _aobserve_vectors(probing: Probing, seen: EmbeddingSeen, options: Mapping[str, Any]) -> None:
    """Embed one text in every way that may make a difference."""
    server = seen.settings

    def embedding(**ways: Any) -> OpenAILikeEmbedding:
        return OpenAILikeEmbedding(
            seen.model_name, api_base=server.api_base, dimensions=server.dimensions, **ways, **options
        )

    configured = embedding(
        query_prefix=server.query_prefix,
        text_prefix=server.text_prefix,
        query_kwargs=server.query_kwargs,
        text_kwargs=server.text_kwargs,
    )
    plain = embedding()
    told = embedding(query_kwargs=AS_QUERY, text_kwargs=AS_PASSAGE)
    try:
        seen.query = await probing.tried(lambda: configured.aget_query_embedding(TEXT))
        if not isinstance(seen.query, list):
            return
        seen.passage = await probing.tried(lambda: configured.aget_text_embedding(TEXT))
        seen.plain = await probing.tried(lambda: plain.aget_query_embedding(TEXT))
        seen.told_query = await probing.tried(lambda: told.aget_query_embedding(TEXT))
        seen.told_passage = await probing.tried(lambda: told.aget_text_embedding(TEXT))
    finally:
        for model in (configured, plain, told):
            await model.aclose()
