"""Options that several commands share. Their texts in Chinese stand in `help_texts`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from typer import Option

DEFAULT_INDEX: Final = Path(".responsa/index")
DEFAULT_API_BASE: Final = "http://127.0.0.1:8080/v1"
DEFAULT_TOP_K: Final = 8

IndexDir: TypeAlias = Annotated[Path, Option("--index", envvar="RESPONSA_INDEX", help="The index's directory.")]
TopK: TypeAlias = Annotated[int, Option("--top-k", min=1, max=1000, help="The most passages retrieved.")]
AsJson: TypeAlias = Annotated[bool, Option("--json", help="Print one JSON document.")]
ApiBase: TypeAlias = Annotated[
    str, Option("--api-base", envvar="RESPONSA_API_BASE", help="The model server's address, with /v1.")
]
Model: TypeAlias = Annotated[
    str | None, Option("--model", envvar="RESPONSA_MODEL", help="The served model's id; the one served if not given.")
]
ApiKey: TypeAlias = Annotated[
    str | None,
    Option("--api-key", envvar="RESPONSA_API_KEY", help="The model server's key; the variable keeps it out of sight."),
]
EmbedApiBase: TypeAlias = Annotated[
    str | None,
    Option(
        "--embed-api-base",
        envvar="RESPONSA_EMBED_API_BASE",
        help="An embedding server's address, with /v1; the packaged embedding model if not given.",
    ),
]
EmbedModel: TypeAlias = Annotated[
    str | None,
    Option("--embed-model", envvar="RESPONSA_EMBED_MODEL", help="The embedding server's model id."),
]
EmbedApiKey: TypeAlias = Annotated[
    str | None, Option("--embed-api-key", envvar="RESPONSA_EMBED_API_KEY", help="The embedding server's key.")
]


@dataclass(frozen=True, slots=True)
class ServerChoice:
    """A model server as the command line names it.

    Args:
        api_base: Its address, with `/v1`.
        model: The served model's id; None takes the one that is served.
        api_key: What it wants to see; None sends nothing.
    """

    api_base: str
    model: str | None = None
    api_key: str | None = None


def server_choice(api_base: str | None, model: str | None, api_key: str | None) -> ServerChoice | None:
    """Return the server that was named, if one was."""
    return ServerChoice(api_base, model, api_key) if api_base else None
