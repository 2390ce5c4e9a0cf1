"""Reading the `[n]` markers of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_MARKER: Final = re.compile(r"[\[【]\s*(\d{1,4}(?:\s*[,，、]\s*\d{1,4}){0,19})\s*[\]】](?!\()")
# A fence or tick that is not closed reaches to the end of the text or line, so that more text never changes the code
# that was there.
_CODE: Final = re.compile(r"(`{3,}).*?(?:\1|\Z)|(`{1,2})[^\n]*?(?:\2|(?=\n)|\Z)", re.DOTALL)
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in a text: where it stands, in characters, and the numbers it names."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_markers(text: str) -> list[Marker]:
    """Return the markers of `text` in order: `[1]`, `[1, 3]`, `【2】`; none inside code, and no links."""
    found = [Marker(m.start(), m.end(), tuple(map(int, _NUMBER.findall(m[1])))) for m in _MARKER.finditer(text)]
    if not found or "`" not in text:
        return found
    code = [match.span() for match in _CODE.finditer(text)]
    return [marker for marker in found if not any(start <= marker.start < end for start, end in code)]


def without_markers(text: str, markers: Sequence[Marker], offset: int = 0) -> str:
    """Return `text`, which starts at `offset`, with these markers of it taken out."""
    for marker in reversed(markers):
        text = text[: marker.start - offset] + text[marker.end - offset :]
    return text


def unknown_numbers(text: str, shown: Iterable[int]) -> list[int]:
    """Return the numbers that `text` cites although they were not shown."""
    known = frozenset(shown)
    cited = dict.fromkeys(number for marker in find_markers(text) for number in marker.numbers)
    return [number for number in cited if number not in known]
