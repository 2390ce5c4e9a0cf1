"""Citations: each sentence of an answer tied to the passage it rests on.

A marker the model wrote is checked against the passages it was shown. A sentence without one is given the best
supporting passage above a threshold, marked as attached by the engine: small models often write no marker at all.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from responsa.packing.passages import Passage
from responsa.prompts import refuses
from responsa.schema.calls import LLMCall
from responsa.schema.citations import Citation, Origin
from responsa.schema.response import Response
from responsa.tokens.marks import COMMAS_AND_DASHES, OPENING
from responsa.tokens.sentences import sentences_from

from .markers import Marker, find_code, markers_outside, without_markers
from .support import Support, SupportIndex

THRESHOLD: Final = 0.5
"""The least support at which the engine attaches a citation; see docs/decisions.md for the measurement."""

# A sentence has ended for certain when this many characters follow and they do not open a marker, which may still
# become a part of it.
AHEAD: Final = 8
_OPEN_MARKER: Final = re.compile(rf"{OPENING}[\d\s{COMMAS_AND_DASHES}]*\Z")


def is_cited(response: Response) -> bool:
    """Tell whether a response says anything that rests on passages."""
    return bool(response.text) and not response.refused and response.grounded


def cite(response: Response, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Return the citations of a whole response."""
    if not is_cited(response):
        return ()
    if response.items:
        return tuple(_of_items(response, passages))
    citer = Citer(passages)
    for record in response.trace:
        citer.show(record.call)
    return tuple(citation for citation in citer.citations(response.text) if citation is not None)


def _of_items(response: Response, passages: Sequence[Passage]) -> Iterator[Citation]:
    """Yield the citations of independent answers, each tied to what its own call showed."""
    citers = {item.index: Citer(passages) for item in response.items}
    for record in response.trace:
        if record.call.item in citers:
            citers[record.call.item].show(record.call)
    end = 0
    for item in response.items:
        start = response.text.find(item.text, end) if item.text and item.error is None else -1
        if start >= 0:
            end = start + len(item.text)
            for citation in citers[item.index].citations(item.text):
                if citation is not None:
                    first, last = citation.sentence
                    yield replace(citation, sentence=(first + start, last + start))


@dataclass(slots=True)
class Place:
    """How far an answer has been read: to where a sentence starts.

    Args:
        start: That, in characters.
        line: Where the line starts that the sentence before it ends in, in characters.
        mark: What opened the code that it stands in; empty where it stands in none.
    """

    start: int = 0
    line: int = 0
    mark: str = ""


class Citer:
    """Ties the sentences of an answer to the passages shown so far.

    Args:
        passages: All passages of the answer, by their numbers.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = {passage.number: passage for passage in passages}
        self._shown: dict[int, Passage] = {}
        self._waiting: list[Passage] = []
        self._support = SupportIndex()

    def show(self, call: LLMCall) -> None:
        """Take note of the passages a call shows."""
        for span in call.spans:
            if span.number not in self._shown and span.number in self._passages:
                self._shown[span.number] = self._passages[span.number]
                self._waiting.append(self._passages[span.number])

    def has_shown(self, calls: Sequence[LLMCall]) -> bool:
        """Tell whether the passages of these calls are all that was shown, in this order."""
        numbers = dict.fromkeys(span.number for call in calls for span in call.spans)
        return list(self._shown) == [number for number in numbers if number in self._passages]

    def citations(self, text: str, place: Place | None = None, *, ended: bool = True) -> Iterator[Citation | None]:
        """Yield the citations of the whole sentences of `text`, and None where long work may pause.

        Args:
            text: The answer, or what has come of it.
            place: How far it has been read; moved on.
            ended: Whether no more text follows.
        """
        while self._waiting:
            for _ in self._support.adding(self._waiting.pop(0)):
                yield None
        place = place or Place()
        began = place.start
        code = find_code(text, place.start, place.mark)
        blocks = deque(block for block in code if block.is_fenced)
        markers = markers_outside(code, text, place.start)
        marker = next(markers, None)
        for first, last, line in sentences_from(text, place.start, place.line):
            if not ended and (len(text) - last < AHEAD or _OPEN_MARKER.match(text, last)):
                break
            own: list[Marker] = []
            while marker is not None and marker.start < last:
                own.append(marker)
                marker = next(markers, None)
            said = last - len(text[first:last].lstrip())
            while blocks and blocks[0].end <= said:
                blocks.popleft()
            if not blocks or said < blocks[0].start:
                yield from self._cite(text[first:last], first, own)
            place.start, place.line = last, line
            yield None
        if place.start > began:
            place.mark = next((one.mark for one in code if one.start < place.start < one.end), "")

    def _cite(self, sentence: str, offset: int, markers: Sequence[Marker]) -> list[Citation]:
        if refuses(sentence):
            return []
        bare = without_markers(sentence, markers, offset)
        place = (offset, offset + len(sentence.rstrip()))
        numbers = dict.fromkeys(number for marker in markers for number in marker.numbers)
        if numbers:
            return [self._written(number, bare, place) for number in numbers]
        support = self._support.best(bare)
        if support is None or support.score < THRESHOLD:
            return []
        return [_supported(support, "engine", place)]

    def _written(self, number: int, sentence: str, place: tuple[int, int]) -> Citation:
        passage = self._shown.get(number)
        if passage is None:
            return Citation(number, "", "model", place, known=False)
        support = self._support.best(sentence, frozenset([number]))
        if support is None:
            return Citation(number, passage.node_id, "model", place)
        return _supported(support, "model", place)


def _supported(support: Support, origin: Origin, place: tuple[int, int]) -> Citation:
    passage, quote = support.passage, (support.start, support.end)
    quoted = passage.text[support.start : support.end]
    return Citation(passage.number, passage.node_id, origin, place, quote, quoted, support.score)
