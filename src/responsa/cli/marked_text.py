"""An answer's text as it comes, with the citations that the engine attaches right after their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from responsa.schema.citations import Citation

_STOPS: Final = frozenset(".!?。！？；…｡")
# What may stand between a sentence's stop and the next sentence: quotes, brackets, emphasis.
_CLOSERS: Final = "\"'”’」』）】》〉)]}»*_`~ \t\r\n"


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

    A sentence is known to have ended, and its citation comes, only when the next one has begun. What follows the end
    of a sentence is therefore held back until the next event tells whether a citation goes before it.
    """

    def __init__(self) -> None:
        self._text = ""
        self._shown = 0

    def feed(self, delta: str) -> Iterator[Piece]:
        """Take a further piece of the answer and return what can be shown."""
        yield from self._show_to(len(self._text.rstrip()))
        self._text += delta
        yield from self._show_to(self._safe_end())

    def hold(self, text: str) -> None:
        """Take a text without showing any of it yet."""
        self._text += text

    def cite(self, citation: Citation) -> Iterator[Piece]:
        """Take a citation and return its sentence's rest and its marker; nothing for one the model wrote itself."""
        if citation.origin == "model":
            return
        yield from self._show_to(min(citation.sentence[1], len(self._text)))
        yield Piece(marker(citation, after=self._text[: self._shown]), is_marker=True)

    def finish(self) -> Iterator[Piece]:
        """Return what is still held back."""
        yield from self._show_to(len(self._text))

    def _show_to(self, end: int) -> Iterator[Piece]:
        if end > self._shown:
            yield Piece(self._text[self._shown : end])
            self._shown = end

    def _safe_end(self) -> int:
        """Where the text that may be shown ends: at the first sentence end since what was shown, if there is one."""
        if self._text[: self._shown].rstrip(_CLOSERS)[-1:] in _STOPS:
            return self._shown
        for place in range(self._shown, len(self._text)):
            if self._text[place] == "\n":
                return place
            if self._text[place] in _STOPS:
                return place + 1
        return len(self._text)
