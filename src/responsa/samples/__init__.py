"""The sample documents: 32 real pages, each in English and in Chinese; their origin stands in `NOTICE.md`."""

from __future__ import annotations

from pathlib import Path as _Path

__all__ = ["path"]


def path() -> _Path:
    """Return the directory of the sample documents: `en/` and `zh/` hold the same pages."""
    return _Path(__file__).parent / "documents"
