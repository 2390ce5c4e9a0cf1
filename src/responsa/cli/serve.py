"""`responsa serve`: the answer service, in the foreground."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Context, Option

from .options import ApiKey, EmbedApiBase, EmbedApiKey, EmbedModel, Model
from .service_settings import DataDir, SettingsFile, read_settings

if TYPE_CHECKING:
    from .terminal import Terminal


def serve(
    context: Context,
    host: Annotated[
        str | None,
        Option("--host", envvar="RESPONSA_HOST", help="The address to listen at.", show_default="127.0.0.1"),
    ] = None,
    port: Annotated[
        int | None,
        Option("--port", envvar="RESPONSA_PORT", help="The port; 0 takes a free one.", show_default="8000"),
    ] = None,
    index: Annotated[
        str | None,
        Option(
            "--index",
            envvar="RESPONSA_INDEX",
            help="What is searched: DIR or NAME=DIR, several separated by commas. Without one the service answers "
            "from the passages in a request.",
        ),
    ] = None,
    api_base: Annotated[
        str | None,
        Option(
            "--api-base",
            envvar="RESPONSA_API_BASE",
            help="The model server's address, with /v1.",
            show_default="http://127.0.0.1:8080/v1",
        ),
    ] = None,
    model: Model = None,
    api_key: ApiKey = None,
    embed_api_base: EmbedApiBase = None,
    embed_model: EmbedModel = None,
    embed_api_key: EmbedApiKey = None,
    no_auth: Annotated[
        bool | None, Option("--no-auth", envvar="RESPONSA_NO_AUTH", help="Ask for no key; on a loopback address only.")
    ] = None,
    data_dir: DataDir = None,
    settings: SettingsFile = None,
) -> int:
    """Serve answers over HTTP until Ctrl-C."""
    configured = read_settings(
        settings,
        host=host,
        port=port,
        index=index,
        api_base=api_base,
        model=model,
        api_key=api_key,
        embed_api_base=embed_api_base,
        embed_model=embed_model,
        embed_api_key=embed_api_key,
        no_auth=no_auth,
        data_dir=data_dir,
    )
    from responsa.server.service import Service
    from responsa.server.serving import serve as serve_until_ended

    from .interrupts import interrupted_by_signals

    terminal: Terminal = context.obj
    service = Service(configured)

    def ready(url: str) -> None:
        terminal.write(terminal.text("service_ready", url=url))
        names = terminal.text("comma").join(service.indexes.names)
        terminal.note("service_indexes", names=names) if names else terminal.note("service_without_index")
        if not configured.no_auth and not service.keys.any_valid():
            terminal.note("service_without_keys")

    with interrupted_by_signals():
        serve_until_ended(service, on_ready=ready)
    return 0
