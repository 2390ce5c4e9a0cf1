"""Where passages, their vectors and their search words are kept."""

from .contract import Store, StoredDocument, StoreMeta
from .lance import LanceStore
from .memory import MemoryStore

__all__ = ["LanceStore", "MemoryStore", "Store", "StoreMeta", "StoredDocument"]
