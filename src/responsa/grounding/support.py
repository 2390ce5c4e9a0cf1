"""How well a passage supports a sentence: the share of its words, names and numbers that stand there.

No model is asked: words are compared as keyword search compares them (Chinese cut into words, English reduced to
stems), rare ones weigh more than common ones, and numbers and names most.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from responsa.packing.passages import Passage
from responsa.tokens.sentences import sentences_from
from responsa.tokens.words import content_words

_TELLING: Final = re.compile(r"\d|_|^[a-z]+[-.:]")
_TELLING_WEIGHT: Final = 2.0
# About a millisecond's work.
_SENTENCES_A_TURN: Final = 16


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
    size: int


_Rank: TypeAlias = tuple[float, int, int]
"""A window's score, then the fewer words and the earlier place the better; the window is the last."""


class SupportIndex:
    """The sentences of some passages, ready to be compared with an answer's.

    Args:
        passages: The passages an answer was written from.
    """

    def __init__(self, passages: Sequence[Passage] = ()) -> None:
        self._windows: list[_Window] = []
        self._holders: dict[str, list[int]] = {}
        self._smallest: dict[int, _Rank] = {}
        self._compared: tuple[str, dict[int, _Rank]] = ("", {})
        for passage in passages:
            for _ in self.adding(passage):
                pass

    def adding(self, passage: Passage) -> Iterator[None]:
        """Add a passage's sentences, and each with the next: a statement may rest on two. Yields now and then."""
        self._compared = ("", {})
        head = frozenset(content_words(passage.head)) if passage.head else frozenset()
        before: tuple[int, frozenset[str]] | None = None
        for count, (start, end, _) in enumerate(sentences_from(passage.text), 1):
            words = frozenset(content_words(passage.text[start:end]))
            if words:
                self._add(passage, start, end, words | head)
                if before is not None:
                    self._add(passage, before[0], end, before[1] | words | head)
            before = (start, words) if words else None
            if count % _SENTENCES_A_TURN == 0:
                yield
        yield

    def best(self, sentence: str, numbers: frozenset[int] | None = None) -> Support | None:
        """Return the best support for `sentence`, among the passages with one of `numbers` if given."""
        if sentence != self._compared[0]:
            self._compared = (sentence, self._ranks(sentence))
        ranks = self._compared[1]
        rank = max((rank for number, rank in ranks.items() if numbers is None or number in numbers), default=None)
        if rank is None:
            return None
        window = self._windows[-rank[2]]
        return Support(window.passage, window.start, window.end, round(rank[0], 4))

    def _add(self, passage: Passage, start: int, end: int, words: frozenset[str]) -> None:
        place = len(self._windows)
        self._windows.append(_Window(passage, start, end, len(words)))
        for word in words:
            self._holders.setdefault(word, []).append(place)
        rank = (0.0, -len(words), -place)
        self._smallest[passage.number] = max(rank, self._smallest.get(passage.number, rank))

    def _ranks(self, sentence: str) -> dict[int, _Rank]:
        """Return the best window of each passage by its number; nothing where a sentence has no words."""
        weights = {word: self._weight(word) for word in dict.fromkeys(content_words(sentence))}
        total = sum(weights.values())
        if not total:
            return {}
        scores: dict[int, float] = {}
        for word, weight in weights.items():
            for place in self._holders.get(word, ()):
                scores[place] = scores.get(place, 0.0) + weight
        best = dict(self._smallest)
        for place, score in scores.items():
            window = self._windows[place]
            number = window.passage.number
            best[number] = max(best[number], (score / total, -window.size, -place))
        return best

    def _weight(self, word: str) -> float:
        rarity = math.log(1 + (1 + len(self._windows)) / (1 + len(self._holders.get(word, ()))))
        return rarity * (_TELLING_WEIGHT if _TELLING.search(word) else 1.0)
