"""`responsa keys`: the service's API keys."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option

from .options import AsJson
from .service_settings import DataDir, SettingsFile, read_settings

if TYPE_CHECKING:
    from responsa.server.security.keys import ApiKey, KeyStore

    from .terminal import Terminal


def add(
    context: Context,
    name: Annotated[str, Argument(metavar="NAME", help="Whose the key is, or what it is for.")],
    scope: Annotated[
        list[str] | None,
        Option(
            "--scope",
            metavar="read|write|admin",
            help="What the key may be used for, each including those before it; may be given several times.",
            show_default="read",
        ),
    ] = None,
    limit: Annotated[
        list[str] | None,
        Option(
            "--limit",
            metavar="NUMBER/UNIT",
            help="How often the key may ask, such as 60/minute, in place of what the settings say (second, minute, "
            "hour, day); may be given several times.",
        ),
    ] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
    settings: SettingsFile = None,
) -> int:
    """Make a key and print it once; only its hash is kept."""
    from . import json_view

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    key, text = _store(data_dir, settings).add(name, scope or ["read"], limit or [])
    if as_json:
        json_view.write({**_shown(key), "key": text})
        return 0
    terminal.write(text)
    terminal.note("key_made", key_id=key.key_id, scopes=", ".join(key.scopes))
    return 0


def list_keys(
    context: Context, as_json: AsJson = False, data_dir: DataDir = None, settings: SettingsFile = None
) -> int:
    """List the keys."""
    from . import json_view
    from .tables import table

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    keys = _store(data_dir, settings).list()
    if as_json:
        json_view.write({"keys": [_shown(key) for key in keys]})
        return 0
    rows = [
        [
            *(key.key_id, key.name, ", ".join(key.scopes), ", ".join(key.limits)),
            *(_day(key.created), _day(key.revoked)),
        ]
        for key in keys
    ]
    terminal.write(table(terminal.text("keys_header").split("|"), rows))
    return 0


def revoke(
    context: Context,
    key_id: Annotated[str, Argument(metavar="ID", help="The key's id, as `responsa keys list` shows it.")],
    data_dir: DataDir = None,
    settings: SettingsFile = None,
) -> int:
    """Accept a key no longer."""
    terminal: Terminal = context.obj
    key = _store(data_dir, settings).revoke(key_id)
    terminal.note("key_revoked", key_id=key.key_id, name=key.name)
    return 0


def _store(data_dir: Path | None, settings: Path | None) -> KeyStore:
    configured = read_settings(settings, data_dir=data_dir)
    from responsa.server.security.keys import KeyStore

    return KeyStore(configured.keys_file)


def _shown(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.key_id,
        "name": key.name,
        "scopes": list(key.scopes),
        "limits": list(key.limits),
        "created": key.created,
        "revoked": key.revoked,
    }


def _day(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
