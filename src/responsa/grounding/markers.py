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


@dataclass(frozen=True, slots=True)
class Code:
    """Code in a text: where it stands, in characters, and what opens it."""

    start: int
    end: int
    mark: str

    @property
    def is_fenced(self) -> bool:
        """Whether it is a block, rather than a piece of a line."""
        return len(self.mark) > 2


def find_markers(text: str) -> list[Marker]:
    """Return the markers of `text` in order: `[1]`, `[1, 3]`, `【2】`; none inside code, and no links."""
    return list(markers_outside(find_code(text), text))


def markers_outside(code: Sequence[Code], text: str, start: int = 0) -> Iterator[Marker]:
    """Yield the markers of `text` from `start` on that stand in none of its code, in order."""
    passed = 0
    for match in _MARKER.finditer(text, start):
        while passed < len(code) and code[passed].end <= match.start():
            passed += 1
        if passed == len(code) or match.start() < code[passed].start:
            yield Marker(match.start(), match.end(), tuple(map(int, _NUMBER.findall(match[1]))))


def find_code(text: str, start: int = 0, mark: str = "") -> list[Code]:
    """Return the code of `text` in order; what is not closed reaches to the end of the text or line.

    Args:
        text: Any text.
        start: Where to begin, in characters.
        mark: What opened the code that `start` stands in; empty where it stands in none.
    """
    found: list[Code] = []
    if mark:
        close = text.find(mark, start)
        end = len(text) if close < 0 else close + len(mark)
        if len(mark) < 3 and (line_end := text.find("\n", start, end)) >= 0:
            end = line_end
        found.append(Code(start, end, mark))
        start = end
    if text.find("`", start) >= 0 or text.find("~~", start) >= 0:
        found += (Code(*match.span(), match["fence"] or match["tick"]) for match in _CODE.finditer(text, start))
    return found


def without_markers(text: str, markers: Sequence[Marker], offset: int = 0) -> str:
    """Return `text`, which starts at `offset`, with these markers of it taken out."""
    ends = [0, *(marker.end - offset for marker in markers)]
    starts = [*(marker.start - offset for marker in markers), len(text)]
    return "".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def unknown_numbers(text: str, shown: Iterable[int]) -> list[int]:
    """Return the numbers that `text` cites although they were not shown."""
    known = frozenset(shown)
    cited = dict.fromkeys(number for marker in find_markers(text) for number in marker.numbers)
    return [number for number in cited if number not in known]
