"""What takes in the messages that do not fit into the history any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

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

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(__name__, {"VectorMemoryBlock": ".vector"})
