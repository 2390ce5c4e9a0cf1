"""Where conversations are kept: in memory, in a file, in a database."""

from .base import BaseChatStore
from .simple_chat_store import SimpleChatStore

__all__ = ["BaseChatStore", "SimpleChatStore"]
