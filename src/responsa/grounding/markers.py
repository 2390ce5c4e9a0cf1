"""Reading the `[n]` markers of an answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_MARKER: Final = re.compile(r"[\[【]\s*(\d{1,4}(?:\s*[,，、]\s*\d{1,4}){0,19})\s*[\]】](?!\()")
_CODE: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
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


def without_markers(text: str) -> str:
    """Return `text` with its markers taken out."""
    for marker in reversed(find_markers(text)):
        text = text[: marker.start] + text[marker.end :]
    return text
