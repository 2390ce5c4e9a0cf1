"""An inverted index in memory that ranks by BM25."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

K1: Final = 1.2
B: Final = 0.75


class BM25Index:
    """Which words stand in which passage, and how often."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._holders: dict[str, set[str]] = {}
        self._total_length = 0

    def add(self, node_id: str, words: Iterable[str]) -> None:
        """Take a passage in; its identity is not in the index yet."""
        counts = Counter(words)
        self._counts[node_id] = counts
        self._total_length += counts.total()
        for word in counts:
            self._holders.setdefault(word, set()).add(node_id)

    def remove(self, node_id: str) -> None:
        """Take a passage out."""
        counts = self._counts.pop(node_id)
        self._total_length -= counts.total()
        for word in counts:
            holders = self._holders[word]
            holders.discard(node_id)
            if not holders:
                del self._holders[word]

    def search(self, words: Iterable[str], allowed: Callable[[str], bool]) -> dict[str, float]:
        """Return the score of every allowed passage that shares a word with `words`.

        How rare a word is, is counted over all passages, allowed or not.
        """
        scores: dict[str, float] = {}
        if not self._counts:
            return scores
        average = self._total_length / len(self._counts)
        for word, times in Counter(words).items():
            holders = self._holders.get(word, set())
            rarity = math.log(1 + (len(self._counts) - len(holders) + 0.5) / (len(holders) + 0.5))
            for node_id in holders:
                if not allowed(node_id):
                    continue
                counts = self._counts[node_id]
                frequency = counts[word]
                norm = K1 * (1 - B + B * counts.total() / average)
                score = times * rarity * frequency * (K1 + 1) / (frequency + norm)
                scores[node_id] = scores.get(node_id, 0.0) + score
        return scores
