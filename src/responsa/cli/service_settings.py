"""The service's settings as its commands read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from typer import Option

if TYPE_CHECKING:
    from responsa.server.settings import ServerSettings

SettingsFile: TypeAlias = Annotated[
    Path | None,
    Option(
        "--settings",
        envvar="RESPONSA_SETTINGS",
        help="A settings file (TOML); .responsa/settings.toml if it is there.",
    ),
]
DataDir: TypeAlias = Annotated[
    Path | None,
    Option("--data-dir", envvar="RESPONSA_DATA_DIR", help="Where the service keeps what is its own, such as keys."),
]


def read_settings(file: Path | None, **flags: Any) -> ServerSettings:
    """Return the settings; flags that are None were not given.

    Raises:
        MissingExtra: The service's packages are not installed.
    """
    from importlib.util import find_spec

    from responsa.schema.errors import MissingExtra

    for package in ("fastapi", "uvicorn", "pydantic_settings"):
        if find_spec(package) is None:
            raise MissingExtra("responsa serve", "server")
    from responsa.server.settings import load_settings

    return load_settings(flags, file=file)
