"""The reasoning that a model was asked to write between markers, taken out of its text."""

from __future__ import annotations

import re
from typing import Final

from responsa.prompts import REASONING_END, REASONING_START
from responsa.schema.completions import Delta

_MARKERS: Final = (REASONING_START, REASONING_END)
_MARKER: Final = re.compile("|".join(map(re.escape, _MARKERS)))


class MarkedReasoning:
    """Takes the text of a stream apart: what stands between the markers is reasoning, and no marker is text.

    Markers may be cut anywhere, stand anywhere, or be missing: a text without any is just an answer. A model that
    opens the reasoning, never closes it and says nothing else has written its answer there.
    """

    __slots__ = ("_buffer", "_inside", "_reasoning", "_said")

    def __init__(self) -> None:
        self._buffer = ""
        self._inside = False
        self._said = False
        self._reasoning: list[str] = []

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of text and return what is certain of it."""
        text = self._buffer + text
        pieces: list[Delta] = []
        start = 0
        for marker in _MARKER.finditer(text):
            self._give(text[start : marker.start()], pieces)
            self._inside = marker[0] == REASONING_START
            start = marker.end()
        end = len(text) - _held(text[start:])
        self._give(text[start:end], pieces)
        self._buffer = text[end:]
        return pieces

    def close(self, *, finished: bool) -> list[Delta]:
        """End the text and return what was held back.

        Args:
            finished: Whether the model came to its end, rather than being cut.
        """
        pieces: list[Delta] = []
        self._give(self._buffer, pieces)
        self._buffer = ""
        if finished and self._inside and not self._said:
            return [*pieces, Delta("".join(self._reasoning).strip())]
        return pieces

    def _give(self, text: str, pieces: list[Delta]) -> None:
        if not text:
            return
        if self._inside:
            self._reasoning.append(text)
            pieces.append(Delta(reasoning=text))
        else:
            self._said = self._said or not text.isspace()
            pieces.append(Delta(text))


def _held(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a marker."""
    start = text.rfind("<", max(0, len(text) - len(REASONING_END)))
    if start < 0:
        return 0
    rest = text[start:]
    return len(rest) if any(marker.startswith(rest) for marker in _MARKERS) else 0
