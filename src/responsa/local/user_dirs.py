"""Where a user's files are kept."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return where things are kept that can be had again: `responsa` in the user's cache."""
    return _below("XDG_CACHE_HOME", ".cache")


def data_dir() -> Path:
    """Return where a user's own things are kept: `responsa` among the user's data."""
    return _below("XDG_DATA_HOME", ".local/share")


def _below(variable: str, usual: str) -> Path:
    named = os.environ.get(variable, "")
    return (Path(named) if named and Path(named).is_absolute() else Path.home() / usual) / "responsa"
