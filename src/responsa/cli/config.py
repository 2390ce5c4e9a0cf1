"""`responsa config`: the settings the service would run with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from typer import Context

from .options import AsJson
from .service_settings import DataDir, SettingsFile, read_settings

if TYPE_CHECKING:
    from .terminal import Terminal


def config(context: Context, as_json: AsJson = False, data_dir: DataDir = None, settings: SettingsFile = None) -> int:
    """Show the service's effective settings, without secrets, as a settings file has them."""
    from . import json_view

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    configured = read_settings(settings, data_dir=data_dir)
    from responsa.server.settings import shown

    values = shown(configured)
    if as_json:
        json_view.write(values)
        return 0
    for name, value in values.items():
        terminal.write(f"# {name} =" if value is None else f"{name} = {_toml(value)}")
    return 0


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(name)} = {_toml(inner)}" for name, inner in value.items())
        return "{" + ", ".join(pairs) + "}"
    return json.dumps(value, ensure_ascii=False)
