"""An answer's text as it comes, with the citations that the engine attaches right after their sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from responsa.schema.citations import Citation
from responsa.tokens.marks import CLOSING, COMMAS_AND_DASHES, OPENING

# A stop or line end, and what may stand between it and the next sentence: quotes, brackets, markers, blanks.
_STOP: Final = re.compile(r"[.!?。！？；…｡\n]")
_BETWEEN: Final = re.compile(rf"(?:{OPENING}|{CLOSING}|[\"'”’」』）》〉)}}»*_`~\s\d{COMMAS_AND_DASHES}.!?。！？；…｡])*")
# A sentence's citation has come, if it comes at all, by the time that so many characters of the next are there.
_AHEAD: Final = 8
_FENCE: Final = "```"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece to show: the model's own text, or a marker of the engine."""

    text: str
    is_marker: bool = False


def marker(citation: Citation, *, after: str) -> str:
    """Return how an attached citation is shown after the text `after`: told from the model's own `[1]` by a star."""
    gap = " " if after[-1:].isascii() and not after[-1:].isspace() else ""
    return f"{gap}[{citation.number}*]"


def marked(text: str, citations: Iterable[Citation]) -> Iterator[Piece]:
    """Return a whole text in pieces, its attached citations in their places."""
    stream = MarkedText()
    stream.hold(text)
    for citation in sorted(citations, key=lambda citation: citation.sentence[1]):
        yield from stream.cite(citation)
    yield from stream.finish()


class MarkedText:
    """Turns a growing text and its citations into pieces in the order they are read.

    A sentence is known to have ended, and its citation comes, only when the next one has begun. What follows a
    possible sentence end is therefore held back for some characters, until no citation can go before it.
    """

    def __init__(self) -> None:
        self._text = ""
        self._shown = 0
        self._settled = 0

    def feed(self, delta: str) -> Iterator[Piece]:
        """Take a further piece of the answer and return what can be shown."""
        self._settle()
        self._text += delta
        stop = _STOP.search(self._text, self._settled)
        yield from self._show_to(len(self._text) if stop is None else _visible_end(stop))

    def hold(self, text: str) -> None:
        """Take a text without showing any of it yet."""
        self._text += text

    def cite(self, citation: Citation) -> Iterator[Piece]:
        """Take a citation and return its sentence's rest and its marker; none in code, nor where the model wrote it."""
        end = min(citation.sentence[1], len(self._text))
        if citation.origin == "model" or self._text.count(_FENCE, 0, end) % 2:
            return
        yield from self._show_to(end)
        yield Piece(marker(citation, after=self._text[: self._shown]), is_marker=True)

    def finish(self) -> Iterator[Piece]:
        """Return what is still held back."""
        yield from self._show_to(len(self._text))

    def _show_to(self, end: int) -> Iterator[Piece]:
        if end > self._shown:
            yield Piece(self._text[self._shown : end])
            self._shown = end

    def _settle(self) -> None:
        """Go past the stops whose citations would have come by now."""
        while stop := _STOP.search(self._text, self._settled):
            between = _BETWEEN.match(self._text, stop.end())
            following = stop.end() if between is None else between.end()
            if len(self._text) - following < _AHEAD:
                return
            self._settled = stop.end()


def _visible_end(stop: re.Match[str]) -> int:
    """Where the text before a possible sentence end stops: a line's end is no part of the sentence."""
    return stop.start() if stop[0] == "\n" else stop.end()
