"""Examining model servers: what is right with them, what is wrong, and what to do about it."""

from .chat import aexamine_chat_server
from .embeddings import aexamine_embedding_server
from .finding import Finding, Status
from .servers import ChatServer, EmbeddingServer, IndexFacts

__all__ = [
    "ChatServer",
    "EmbeddingServer",
    "Finding",
    "IndexFacts",
    "Status",
    "aexamine_chat_server",
    "aexamine_embedding_server",
]
