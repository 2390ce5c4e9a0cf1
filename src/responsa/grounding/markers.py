"""Reading the `[n]` markers of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from responsa.tokens.marks import CLOSING, COMMAS, MOST_NUMBERS, NUMBER, OPENING

_MARKER: Final = re.compile(
    rf"{OPENING}\s*({NUMBER}(?:\s*[{COMMAS}]\s*{NUMBER}){{0,{MOST_NUMBERS - 1}}})\s*{CLOSING}(?!\()"
)
# A fence or tick that is not closed reaches to the end of the text or line, so that more text never changes the code
# that was there.
_CODE: Final = re.compile(
    r"(?P<fence>`{3,}|(?<![^\n])~{3,}).*?(?:(?P=fence)|\Z)|(?P<tick>`{1,2})[^\n]*?(?:(?P=tick)|(?=\n)|\Z)", re.DOTALL
)
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
    if not found:
        return found
    code = [match.span() for match in _code(text)]
    return [marker for marker in found if not any(start <= marker.start < end for start, end in code)]


def code_blocks(text: str) -> list[tuple[int, int]]:
    """Return where fenced code stands in `text`, in characters; a fence that is not closed reaches to the end."""
    return [match.span() for match in _code(text) if match["fence"]]


def _code(text: str) -> Iterator[re.Match[str]]:
    return _CODE.finditer(text) if "`" in text or "~~~" in text else iter(())


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
