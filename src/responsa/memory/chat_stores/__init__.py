"""Where conversations are kept: in memory, in a file, in a database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base import BaseChatStore
from .simple_chat_store import SimpleChatStore

if TYPE_CHECKING:
    from .sqlalchemy_chat_store import SQLAlchemyChatStore

__all__ = ["BaseChatStore", "SQLAlchemyChatStore", "SimpleChatStore"]


def __getattr__(name: str) -> Any:
    if name != "SQLAlchemyChatStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from .sqlalchemy_chat_store import SQLAlchemyChatStore
    except ModuleNotFoundError as error:
        from responsa.schema.errors import MissingExtra

        raise MissingExtra("the chat store in a database", "chat") from error
    return SQLAlchemyChatStore
