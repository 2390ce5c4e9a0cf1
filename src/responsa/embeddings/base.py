"""The base of every embedding model: queries and passages told apart, in batches, in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..schema.errors import InvalidOption


class BaseEmbedding(ABC):
    """A model that turns texts into vectors. A subclass gives `_embed` and `_aembed`.

    Args:
        model_name: The model's name, which an index remembers.
        embed_batch_size: Texts embedded at a time.
        query_prefix: Put before every query.
        text_prefix: Put before every passage.
    """

    def __init__(
        self, model_name: str, *, embed_batch_size: int = 10, query_prefix: str = "", text_prefix: str = ""
    ) -> None:
        if embed_batch_size < 1:
            raise InvalidOption("embed_batch_size", embed_batch_size, "1 or more texts")
        self._model_name = model_name
        self.embed_batch_size = embed_batch_size
        self.query_prefix = query_prefix
        self.text_prefix = text_prefix

    @property
    def model_name(self) -> str:
        """The model's name, which an index remembers."""
        return self._model_name

    @abstractmethod
    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        """Return a vector for each text, prefixes already in place, in order."""

    @abstractmethod
    async def _aembed(self, texts: Sequence[str], *, is_query: bool) -> list[list[float]]:
        """Return a vector for each text without blocking."""

    def get_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question."""
        return self._embed([self.query_prefix + query], is_query=True)[0]

    async def aget_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question without blocking."""
        return (await self._aembed([self.query_prefix + query], is_query=True))[0]

    def get_text_embedding(self, text: str) -> list[float]:
        """Return the vector of a passage."""
        return self.get_text_embedding_batch([text])[0]

    async def aget_text_embedding(self, text: str) -> list[float]:
        """Return the vector of a passage without blocking."""
        return (await self.aget_text_embedding_batch([text]))[0]

    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of passages, in order."""
        return self._embed([self.text_prefix + text for text in texts], is_query=False) if texts else []

    async def aget_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of passages without blocking, in order."""
        return await self._aembed([self.text_prefix + text for text in texts], is_query=False) if texts else []
