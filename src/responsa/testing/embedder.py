"""An embedder without a model: texts that share words are near each other, the same on every machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b

from responsa.tokens.words import content_words


class BagOfWordsEmbedder:
    """Turns a text into the sum of one fixed direction a word, scaled to length one.

    Texts are near by the words they share, not by their meaning: enough to test with, without a model or a server.

    Args:
        dimensions: The numbers in a vector.
        model_name: The name it goes by.

    Attributes:
        texts: Every passage embedded so far, in order.
        queries: Every question embedded so far, in order.
    """

    def __init__(self, dimensions: int = 64, *, model_name: str = "bag-of-words") -> None:
        self.dimensions = dimensions
        self.model_name = model_name
        self.texts: list[str] = []
        self.queries: list[str] = []

    def get_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question."""
        self.queries.append(query)
        return self._vector(query)

    async def aget_query_embedding(self, query: str) -> list[float]:
        """Return the vector of a question."""
        return self.get_query_embedding(query)

    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of passages."""
        self.texts.extend(texts)
        return [self._vector(text) for text in texts]

    async def aget_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of passages."""
        return self.get_text_embedding_batch(texts)

    def _vector(self, text: str) -> list[float]:
        total = [0.0] * self.dimensions
        for word in content_words(text):
            for place, number in enumerate(_direction(word, self.dimensions)):
                total[place] += number
        length = math.hypot(*total)
        return [number / length for number in total] if length else total


def _direction(word: str, dimensions: int) -> list[float]:
    """Numbers between -1 and 1 that depend on nothing but the word."""
    numbers: list[float] = []
    block = 0
    while len(numbers) < dimensions:
        digest = blake2b(f"{block} {word}".encode(), digest_size=64).digest()
        numbers += (byte / 127.5 - 1 for byte in digest)
        block += 1
    return numbers[:dimensions]
