"""Documents over HTTP: taken in by their content, read in a process of their own, kept up to date in an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .documents import Documents

__all__ = ["Documents"]

if not TYPE_CHECKING:
    # The process that reads files needs nothing of the service.
    __getattr__ = lazy_exports(__name__, {"Documents": ".documents"})
