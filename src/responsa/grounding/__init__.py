"""Where an answer's sentences come from: citations and support."""

from .citing import THRESHOLD, acited, cite, cited, unknown_numbers
from .markers import Marker, find_markers, without_markers
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
