"""What a conversation remembers, and where it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

from .chat_stores.simple_chat_store import SimpleChatStore
from .insertion import InsertMethod
from .memory import Memory
from .memory_blocks.base import BaseMemoryBlock, Recollection
from .memory_blocks.static import StaticMemoryBlock
from .turns import Turn

if TYPE_CHECKING:
    from .chat_memory_buffer import ChatMemoryBuffer
    from .chat_stores.sqlalchemy_chat_store import SQLAlchemyChatStore
    from .export import aexport_session, export_session
    from .memory_blocks.fact import FactExtractionMemoryBlock
    from .memory_blocks.summary import SummaryMemoryBlock
    from .memory_blocks.vector import VectorMemoryBlock

_HOMES = {
    "ChatMemoryBuffer": ".chat_memory_buffer",
    "FactExtractionMemoryBlock": ".memory_blocks.fact",
    "SQLAlchemyChatStore": ".chat_stores",
    "SummaryMemoryBlock": ".memory_blocks.summary",
    "VectorMemoryBlock": ".memory_blocks",
    "aexport_session": ".export",
    "export_session": ".export",
}

__all__ = [
    "BaseMemoryBlock",
    "ChatMemoryBuffer",
    "FactExtractionMemoryBlock",
    "InsertMethod",
    "Memory",
    "Recollection",
    "SQLAlchemyChatStore",
    "SimpleChatStore",
    "StaticMemoryBlock",
    "SummaryMemoryBlock",
    "Turn",
    "VectorMemoryBlock",
    "aexport_session",
    "export_session",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(__name__, _HOMES)
