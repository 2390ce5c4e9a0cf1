"""`responsa doctor`: what is right with the model servers, what is wrong, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from typer import Context, Option

from .options import (
    DEFAULT_API_BASE,
    DEFAULT_INDEX,
    ApiBase,
    ApiKey,
    AsJson,
    EmbedApiKey,
    EmbedModel,
    IndexDir,
    Model,
)

if TYPE_CHECKING:
    from responsa.doctor import ChatServer, EmbeddingServer, IndexFacts

    from .doctor_view import Examined
    from .terminal import Terminal

DEFAULT_SECONDS: Final = 90.0


def doctor(
    context: Context,
    api_base: ApiBase = DEFAULT_API_BASE,
    model: Model = None,
    api_key: ApiKey = None,
    context_window: Annotated[
        int | None, Option("--context-window", min=1, help="The window your program sets, in tokens.")
    ] = None,
    completions: Annotated[
        bool, Option("--completions", help="Ask with plain prompts (is_chat_model=False), not with messages.")
    ] = False,
    embed_api_base: Annotated[
        str | None,
        Option(
            "--embed-api-base",
            envvar="RESPONSA_EMBED_API_BASE",
            help="An embedding server's address, with /v1; none is examined if not given.",
        ),
    ] = None,
    embed_model: EmbedModel = None,
    embed_api_key: EmbedApiKey = None,
    query_prefix: Annotated[str, Option("--query-prefix", help="What your program puts before queries.")] = "",
    text_prefix: Annotated[str, Option("--text-prefix", help="What your program puts before passages.")] = "",
    index: IndexDir = DEFAULT_INDEX,
    seconds: Annotated[
        float, Option("--timeout", min=1, help="The longest the examination may take.")
    ] = DEFAULT_SECONDS,
    as_json: AsJson = False,
) -> int:
    """Examine the model servers: what is wrong, and what to do."""
    from asyncio import run

    from responsa.doctor import ChatServer, EmbeddingServer, IndexFacts

    from . import doctor_view

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    chat = ChatServer(api_base, model, api_key, context_window, is_chat_model=not completions)
    embedding, facts = None, None
    if embed_api_base:
        embedding = EmbeddingServer(
            embed_api_base, embed_model, embed_api_key, query_prefix=query_prefix, text_prefix=text_prefix
        )
        if index != DEFAULT_INDEX or index.exists():
            meta = terminal.parts.open_index(index, None).store.meta
            facts = IndexFacts(meta.embed_model, meta.dimensions)
    terminal.note("examining", urls=terminal.text("comma").join(filter(None, (api_base, embed_api_base))))
    examined = run(_examine(chat, embedding, facts, seconds))
    if as_json:
        doctor_view.write_json(examined, terminal.language)
    else:
        doctor_view.show(examined, terminal)
    return int(any(one.faults for one in examined))


async def _examine(
    chat: ChatServer, embedding: EmbeddingServer | None, index: IndexFacts | None, seconds: float
) -> list[Examined]:
    """Examine the servers at the same time, so that one limit holds for both."""
    from asyncio import gather

    from responsa.doctor import aexamine_chat_server, aexamine_embedding_server

    from .doctor_view import Examined

    examinations = {"chat": aexamine_chat_server(chat, seconds=seconds)}
    urls = [chat.api_base]
    if embedding is not None:
        examinations["embedding"] = aexamine_embedding_server(embedding, index=index, seconds=seconds)
        urls.append(embedding.api_base)
    findings = await gather(*examinations.values())
    return [Examined(kind, url, found) for kind, url, found in zip(examinations, urls, findings, strict=True)]
