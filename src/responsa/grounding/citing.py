"""Citations: each sentence of an answer tied to the passage it rests on.

A marker the model wrote is checked against the passages it was shown. A sentence without one is given the best
supporting passage above a threshold, marked as attached by the engine: small models often write no marker at all.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from typing import Final

from responsa.packing.passages import Passage, passages_of
from responsa.prompts import refuses
from responsa.schema.calls import LLMCall
from responsa.schema.citations import Citation, Origin
from responsa.schema.events import CitationFound, Event, SourcesFound, StepFinished, StepStarted, TextDelta
from responsa.schema.response import Response
from responsa.tokens.marks import COMMAS_AND_DASHES, OPENING
from responsa.tokens.sentences import split_sentences

from .markers import Marker, code_blocks, find_markers, without_markers
from .support import Support, SupportIndex

THRESHOLD: Final = 0.5
"""The least support at which the engine attaches a citation; see docs/decisions.md for the measurement."""

# A sentence has ended for certain when this many characters follow and they do not open a marker, which may still
# become a part of it.
_AHEAD: Final = 8
_OPEN_MARKER: Final = re.compile(rf"{OPENING}[\d\s{COMMAS_AND_DASHES}]*\Z")
_SENTENCE_ENDS: Final = frozenset(".!?。！？；…\n")


def cite(response: Response, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Return the citations of a whole response."""
    if not response.text or response.refused or not response.grounded:
        return ()
    if response.items:
        return tuple(_of_items(response, passages))
    citer = Citer(passages)
    for record in response.trace:
        citer.show(record.call)
    return tuple(citer.citations(response.text, 0, ended=True)[0])


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
            for citation in citers[item.index].citations(item.text, 0, ended=True)[0]:
                first, last = citation.sentence
                yield replace(citation, sentence=(first + start, last + start))


class Citer:
    """Ties the sentences of an answer to the passages shown so far.

    Args:
        passages: All passages of the answer, by their numbers.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = {passage.number: passage for passage in passages}
        self._shown: dict[int, Passage] = {}
        self._index: SupportIndex | None = None

    def show(self, call: LLMCall) -> None:
        """Take note of the passages a call shows."""
        for span in call.spans:
            if span.number not in self._shown and span.number in self._passages:
                self._shown[span.number] = self._passages[span.number]
                self._index = None

    def citations(self, text: str, start: int, *, ended: bool) -> tuple[list[Citation], int]:
        """Return the citations of the whole sentences of `text` from `start` on, and where the next one starts."""
        markers, code = find_markers(text), code_blocks(text)
        found: list[Citation] = []
        for first, last in split_sentences(text):
            if not ended and (len(text) - last < _AHEAD or _OPEN_MARKER.match(text, last)):
                break
            if first >= start:
                start = last
                said = last - len(text[first:last].lstrip())
                if any(begin <= said < end for begin, end in code):
                    continue
                found += self._cite(text[first:last], first, [m for m in markers if first <= m.start < last])
        return found, start

    def _cite(self, sentence: str, offset: int, markers: Sequence[Marker]) -> list[Citation]:
        if refuses(sentence):
            return []
        bare = without_markers(sentence, markers, offset)
        place = (offset, offset + len(sentence.rstrip()))
        numbers = dict.fromkeys(number for marker in markers for number in marker.numbers)
        if numbers:
            return [self._written(number, bare, place) for number in numbers]
        support = self._support().best(bare)
        if support is None or support.score < THRESHOLD:
            return []
        return [_supported(support, "engine", place)]

    def _written(self, number: int, sentence: str, place: tuple[int, int]) -> Citation:
        passage = self._shown.get(number)
        if passage is None:
            return Citation(number, "", "model", place, known=False)
        support = self._support().best(sentence, frozenset([number]))
        if support is None:
            return Citation(number, passage.node_id, "model", place)
        return _supported(support, "model", place)

    def _support(self) -> SupportIndex:
        if self._index is None:
            self._index = SupportIndex(list(self._shown.values()))
        return self._index


def _supported(support: Support, origin: Origin, place: tuple[int, int]) -> Citation:
    passage, quote = support.passage, (support.start, support.end)
    quoted = passage.text[support.start : support.end]
    return Citation(passage.number, passage.node_id, origin, place, quote, quoted, support.score)


class _Reader:
    """Watches a stream of events and says which citations each one completes."""

    def __init__(self) -> None:
        self._passages: Sequence[Passage] = ()
        self._citer = Citer(())
        self._citers: dict[int, Citer] = {}
        self._calls: dict[int, LLMCall] = {}
        self._texts: dict[int, str] = {}
        self._done: dict[int, int] = {}

    def after(self, event: Event) -> list[CitationFound]:
        if isinstance(event, SourcesFound):
            self._passages = passages_of(event.nodes)
            self._citer = Citer(self._passages)
        elif isinstance(event, StepStarted):
            self._calls[event.number] = event.call
            # An independent answer rests on its own call alone, any other on all that was shown before it too.
            citer = self._citer if event.call.item is None else Citer(self._passages)
            citer.show(event.call)
            self._citers[event.number] = citer
        elif isinstance(event, TextDelta) and event.number in self._calls:
            self._texts[event.number] = self._texts.get(event.number, "") + event.text
            if not _SENTENCE_ENDS.isdisjoint(self._texts[event.number][-len(event.text) - 2 * _AHEAD :]):
                return self._found(event.number, ended=False)
        elif isinstance(event, StepFinished) and event.number in self._texts:
            return self._found(event.number, ended=True)
        return []

    def _found(self, number: int, *, ended: bool) -> list[CitationFound]:
        call = self._calls[number]
        text = self._texts[number]
        citations, self._done[number] = self._citers[number].citations(text, self._done.get(number, 0), ended=ended)
        return [CitationFound(citation, number, call.draft, call.item) for citation in citations]


def cited(events: Generator[Event, None, None]) -> Generator[Event, None, None]:
    """Pass on `events`, and after each sentence of the answer its citations."""
    reader = _Reader()
    with closing(events):
        for event in events:
            if isinstance(event, StepFinished):
                yield from reader.after(event)
                yield event
            else:
                yield event
                yield from reader.after(event)


async def acited(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """Pass on `events`, and after each sentence of the answer its citations; see `cited`."""
    reader = _Reader()
    async with aclosing(events):
        async for event in events:
            if isinstance(event, StepFinished):
                for citation in reader.after(event):
                    yield citation
                yield event
            else:
                yield event
                for citation in reader.after(event):
                    yield citation
