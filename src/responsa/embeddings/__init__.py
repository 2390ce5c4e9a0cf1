"""Embedding models: packaged, or behind an OpenAI-compatible server."""

from .base import BaseEmbedding

__all__ = ["BaseEmbedding"]
