"""Citations of an answer that is still being written: told as soon as a sentence has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Final

from responsa.packing.passages import Passage, passages_of
from responsa.schema.calls import LLMCall
from responsa.schema.citations import Citation
from responsa.schema.events import CitationFound, Done, Event, SourcesFound, StepFinished, StepStarted, TextDelta
from responsa.schema.response import Response

from .citing import AHEAD, Citer, Place, is_cited

# What is told only after the citations that it completes.
_ENDS: Final = (StepFinished, Done)

_SENTENCE_ENDS: Final = frozenset(".!?。！？；…\n")
# A sentence beyond this that has not ended is looked at again when it has grown by this share, not at every piece of
# text: the time is in proportion to its length, whatever it is made of.
_LONG_SENTENCE: Final = 500
_GROWN_BY: Final = 1 / 8


class _Answer:
    """The text of one call, as far as it has come and been read.

    Args:
        number: The call's number.
        call: The call.
        citer: Ties its sentences to the passages.
    """

    def __init__(self, number: int, call: LLMCall, citer: Citer) -> None:
        self._number = number
        self._call = call
        self._citer = citer
        self._text = ""
        self._place = Place()
        self._due = False
        self._ends_until = 0
        self._read_at = 0

    def feed(self, piece: str) -> Iterable[CitationFound | None]:
        """Take the next piece of text and return the citations it completes; see `Citer.citations`."""
        # While nothing else holds it a text grows in place; else each piece would copy all that came before it.
        text, self._text = self._text, ""
        text += piece
        self._text = text
        if not _SENTENCE_ENDS.isdisjoint(piece):
            self._ends_until = len(text) + 2 * AHEAD
        self._due = self._due or len(text) - len(piece) < self._ends_until
        return self._read(ended=False) if self._due and len(text) >= self._read_at else ()

    def close(self) -> Iterator[CitationFound | None]:
        """Yield the citations of what is left."""
        return self._read(ended=True)

    def _read(self, *, ended: bool) -> Iterator[CitationFound | None]:
        self._due = False
        for citation in self._citer.citations(self._text, self._place, ended=ended):
            if citation is None:
                yield None
            else:
                yield CitationFound(citation, self._number, self._call.draft, self._call.item)
        waiting = len(self._text) - self._place.start
        self._read_at = len(self._text) + int(_GROWN_BY * waiting) if waiting > _LONG_SENTENCE else 0


class _Reader:
    """Watches a stream of events and says which citations each one completes."""

    def __init__(self) -> None:
        self._passages: Sequence[Passage] = ()
        self._citer = Citer(())
        self._answers: dict[int, _Answer] = {}

    def after(self, event: Event) -> Iterable[CitationFound | None]:
        """Return the citations, and None where long work may pause."""
        if isinstance(event, TextDelta):  # there may be ten thousand a second
            answer = self._answers.get(event.number)
            return answer.feed(event.text) if answer is not None else ()
        if isinstance(event, StepFinished) and event.number in self._answers:
            return self._answers.pop(event.number).close()
        if isinstance(event, Done):
            return self._cite(event.response)
        if isinstance(event, SourcesFound):
            self._passages = passages_of(event.nodes)
            self._citer = Citer(self._passages)
        elif isinstance(event, StepStarted):
            # An independent answer rests on its own call alone, any other on all that was shown before it too.
            citer = self._citer if event.call.item is None else Citer(self._passages)
            citer.show(event.call)
            self._answers[event.number] = _Answer(event.number, event.call, citer)
        return ()

    def _cite(self, response: Response) -> Iterator[None]:
        """Give a response its citations while the passages are at hand: else they would be read anew, all at once."""
        if response.cite is None or response.items or not self._citer.has_shown([one.call for one in response.trace]):
            return
        found: list[Citation] = []
        if is_cited(response):
            for citation in self._citer.citations(response.text):
                if citation is None:
                    yield None
                else:
                    found.append(citation)
        response.cite = lambda _: tuple(found)


def cited(events: Generator[Event, None, None]) -> Generator[Event, None, None]:
    """Pass on `events`, and after each sentence of the answer its citations."""
    reader = _Reader()
    with closing(events):
        for event in events:
            if not isinstance(event, _ENDS):
                yield event
            for citation in reader.after(event):
                if citation is not None:
                    yield citation
            if isinstance(event, _ENDS):
                yield event


async def acited(events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """Pass on `events`, and after each sentence of the answer its citations; see `cited`."""
    reader = _Reader()
    async with aclosing(events):
        async for event in events:
            if not isinstance(event, _ENDS):
                yield event
            for citation in reader.after(event):
                if citation is None:
                    await asyncio.sleep(0)
                else:
                    yield citation
            if isinstance(event, _ENDS):
                yield event
