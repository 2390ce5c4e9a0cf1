"""What takes in the messages that do not fit into the history any more."""

from .base import BaseMemoryBlock, Recollection
from .static import StaticMemoryBlock

__all__ = ["BaseMemoryBlock", "Recollection", "StaticMemoryBlock"]
