"""What takes in the messages that do not fit into the history any more."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .base import BaseMemoryBlock, Recollection
from .fact import FactExtractionMemoryBlock
from .static import StaticMemoryBlock
from .summary import SummaryMemoryBlock

if TYPE_CHECKING:
    from .vector import VectorMemoryBlock

__all__ = [
    "BaseMemoryBlock",
    "FactExtractionMemoryBlock",
    "Recollection",
    "StaticMemoryBlock",
    "SummaryMemoryBlock",
    "VectorMemoryBlock",
]


def __getattr__(name: str) -> Any:
    if name != "VectorMemoryBlock":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(".vector", __name__).VectorMemoryBlock
