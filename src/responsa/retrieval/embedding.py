"""Vectors from an embedding model, checked against the store they are for."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from responsa.schema.errors import EmbeddingFailed, ResponsaError
from responsa.schema.protocols import Embedder

from .stores.contract import Store
from .stores.vectors import checked_vector


def text_vectors(model: Embedder, texts: Sequence[str], store: Store) -> list[array[float]]:
    """Embed passages; one vector of length one a text.

    Raises:
        EmbeddingFailed: The model failed, or gave something else than a vector a text.
        EmbeddingMismatch: The vectors have not the store's number of dimensions.
    """
    if not texts:
        return []
    with _own_errors():
        vectors = model.get_text_embedding_batch(texts)
    return _checked(vectors, texts, store, model)


async def atext_vectors(model: Embedder, texts: Sequence[str], store: Store) -> list[array[float]]:
    """Embed passages; one vector of length one a text.

    Raises:
        EmbeddingFailed: The model failed, or gave something else than a vector a text.
        EmbeddingMismatch: The vectors have not the store's number of dimensions.
    """
    if not texts:
        return []
    with _own_errors():
        vectors = await model.aget_text_embedding_batch(texts)
    return _checked(vectors, texts, store, model)


def query_vector(model: Embedder, query: str, store: Store) -> array[float]:
    """Embed a question; the vector has length one.

    Raises:
        EmbeddingFailed: The model failed.
        EmbeddingMismatch: The vector has not the store's number of dimensions.
    """
    with _own_errors():
        vector = model.get_query_embedding(query)
    return checked_vector(vector, store, model.model_name)


async def aquery_vector(model: Embedder, query: str, store: Store) -> array[float]:
    """Embed a question; the vector has length one.

    Raises:
        EmbeddingFailed: The model failed.
        EmbeddingMismatch: The vector has not the store's number of dimensions.
    """
    with _own_errors():
        vector = await model.aget_query_embedding(query)
    return checked_vector(vector, store, model.model_name)


def dimensions_of(model: Embedder) -> int:
    """Ask a model once how many numbers its vectors have."""
    with _own_errors():
        return len(model.get_query_embedding("dimensions"))


async def adimensions_of(model: Embedder) -> int:
    """Ask a model once how many numbers its vectors have."""
    with _own_errors():
        return len(await model.aget_query_embedding("dimensions"))


@contextmanager
def _own_errors() -> Iterator[None]:
    try:
        yield
    except ResponsaError:
        raise
    except Exception as error:  # a border: the model is the user's own code and may raise anything
        raise EmbeddingFailed(f"{type(error).__name__}: {error}") from error


def _checked(
    vectors: Sequence[Sequence[float]], texts: Sequence[str], store: Store, model: Embedder
) -> list[array[float]]:
    if len(vectors) != len(texts):
        raise EmbeddingFailed(f"{len(vectors)} vectors came for {len(texts)} texts.")
    return [checked_vector(vector, store, model.model_name) for vector in vectors]
