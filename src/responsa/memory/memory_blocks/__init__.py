"""What takes in the messages that do not fit into the history any more."""

from .base import BaseMemoryBlock, Recollection
from .fact import FactExtractionMemoryBlock
from .static import StaticMemoryBlock
from .summary import SummaryMemoryBlock

__all__ = [
    "BaseMemoryBlock",
    "FactExtractionMemoryBlock",
    "Recollection",
    "StaticMemoryBlock",
    "SummaryMemoryBlock",
]
