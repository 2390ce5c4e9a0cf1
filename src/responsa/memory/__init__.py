"""What a conversation remembers, and where it is kept."""

from .insertion import InsertMethod
from .memory import Memory
from .memory_blocks.base import BaseMemoryBlock, Recollection
from .memory_blocks.static import StaticMemoryBlock
from .turns import Turn

__all__ = ["BaseMemoryBlock", "InsertMethod", "Memory", "Recollection", "StaticMemoryBlock", "Turn"]
