"""`responsa index info`: what an index holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from typer import Context

from .options import DEFAULT_INDEX, AsJson, IndexDir

if TYPE_CHECKING:
    from .terminal import Terminal


def info(context: Context, index: IndexDir = DEFAULT_INDEX, as_json: AsJson = False) -> int:
    """Show what an index holds and how it was built."""
    from . import json_view
    from .tables import padded, width

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    store = terminal.parts.open_index(index, None).store
    size = _bytes_below(index)
    facts = {
        "path": store.location,
        "documents": len(store.document_hashes()),
        "passages": store.count(),
        "embed_model": store.meta.embed_model,
        "dimensions": store.meta.dimensions,
        "format": store.meta.format_version,
        "size": size,
    }
    if as_json:
        json_view.write(facts)
        return 0
    shown = {terminal.text(f"info_{name}"): value for name, value in facts.items()}
    shown[terminal.text("info_size")] = f"{size / 1e6:.1f} MB"
    widest = max(map(width, shown))
    for name, value in shown.items():
        terminal.write(padded(name, widest + 2), "dim", end="")
        terminal.write(str(value))
    return 0


def _bytes_below(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
