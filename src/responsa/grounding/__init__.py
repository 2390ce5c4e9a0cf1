"""Where an answer's sentences come from: citations and support. Loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .citing import THRESHOLD, cite
    from .markers import Marker, find_markers, unknown_numbers, without_markers
    from .streamed import acited, cited
    from .support import Support, SupportIndex

__all__ = [
    "THRESHOLD",
    "Marker",
    "Support",
    "SupportIndex",
    "acited",
    "cite",
    "cited",
    "find_markers",
    "unknown_numbers",
    "without_markers",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(
        __name__,
        {
            "THRESHOLD": ".citing",
            "Marker": ".markers",
            "Support": ".support",
            "SupportIndex": ".support",
            "acited": ".streamed",
            "cite": ".citing",
            "cited": ".streamed",
            "find_markers": ".markers",
            "unknown_numbers": ".markers",
            "without_markers": ".markers",
        },
    )
