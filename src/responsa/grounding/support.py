"""How well a passage supports a sentence: the share of its words, names and numbers that stand there.

No model is asked: words are compared as keyword search compares them (Chinese cut into words, English reduced to
stems), rare ones weigh more than common ones, and numbers and names most.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from responsa.packing.passages import Passage
from responsa.tokens.sentences import split_sentences
from responsa.tokens.words import content_words

_TELLING: Final = re.compile(r"\d|_|^[a-z]+[-.:]")
_TELLING_WEIGHT: Final = 2.0


@dataclass(frozen=True, slots=True)
class Support:
    """The piece of a passage that supports a sentence best.

    Args:
        passage: The passage.
        start: Where the piece starts in the passage's text, in characters.
        end: Where it ends, exclusive.
        score: The weighted share of the sentence's words that it holds, from 0 to 1.
    """

    passage: Passage
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class _Window:
    passage: Passage
    start: int
    end: int
    words: frozenset[str]


class SupportIndex:
    """The sentences of some passages, ready to be compared with an answer's.

    Args:
        passages: The passages an answer was written from.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._windows: list[_Window] = []
        for passage in passages:
            head = frozenset(content_words(passage.head)) if passage.head else frozenset()
            self._windows += _windows(passage, head)
        self._frequency = Counter(word for window in self._windows for word in window.words)

    def best(self, sentence: str, numbers: frozenset[int] | None = None) -> Support | None:
        """Return the best support for `sentence`, among the passages with one of `numbers` if given."""
        words = frozenset(content_words(sentence))
        weights = {word: self._weight(word) for word in words}
        total = sum(weights.values())
        if not total:
            return None

        def score(window: _Window) -> float:
            return sum(weights[word] for word in words & window.words) / total

        windows = (one for one in self._windows if numbers is None or one.passage.number in numbers)
        best = max(windows, key=lambda window: (score(window), -len(window.words)), default=None)
        return None if best is None else Support(best.passage, best.start, best.end, round(score(best), 4))

    def _weight(self, word: str) -> float:
        rarity = math.log(1 + (1 + len(self._windows)) / (1 + self._frequency[word]))
        return rarity * (_TELLING_WEIGHT if _TELLING.search(word) else 1.0)


def _windows(passage: Passage, head: frozenset[str]) -> list[_Window]:
    """Return a passage's sentences, and each with the next: a statement may rest on two."""
    ranges = split_sentences(passage.text)
    sets = [frozenset(content_words(passage.text[start:end])) for start, end in ranges]
    windows = [
        _Window(passage, start, end, words | head) for (start, end), words in zip(ranges, sets, strict=True) if words
    ]
    windows += [
        _Window(passage, first[0], second[1], a | b | head)
        for first, second, a, b in zip(ranges, ranges[1:], sets, sets[1:], strict=False)
        if a and b
    ]
    return windows
