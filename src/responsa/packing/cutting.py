"""Cutting a text that is larger than its room, at the best boundary there is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from responsa.programs.effects import Program, count

Range: TypeAlias = tuple[int, int]

# Where a sentence that is too long is cut, best first: after a clause, after white space, anywhere.
_BOUNDARIES: Final = (re.compile(r"[,，、;；:：)）\]】]\s*"), re.compile(r"\s+"))
_JOIN: Final = 1  # tokens that joining two counted pieces may add


def cut(text: str, room: int, overlap: int = 0) -> Program[list[tuple[Range, int]]]:
    """Cut `text` into pieces of at most `room` tokens each, at sentence ends where possible.

    Args:
        text: Any text: prose, code, one line of two million characters.
        room: The most tokens of a piece, at least 1.
        overlap: The most tokens at the end of a piece that the next one repeats.

    Returns:
        Each piece's range in characters and its tokens, counted as the sum of its parts. The ranges follow one
        another, overlaps aside, and cover the text. Only a single character may be larger than `room`.
    """
    from responsa.tokens.sentences import split_sentences

    units: list[tuple[Range, int]] = []
    waiting = split_sentences(text)
    while waiting:
        counts = yield from count([text[start:end] for start, end in waiting])
        too_long: list[Range] = []
        for unit, tokens in zip(waiting, counts, strict=True):
            if tokens <= room or unit[1] - unit[0] == 1:
                units.append((unit, tokens))
            else:
                too_long += _split(text, unit, parts=-(-tokens // room) + 1)
        waiting = too_long
    units.sort()
    return _join(units, room, overlap)


def _split(text: str, unit: Range, parts: int) -> list[Range]:
    """Split a range into about `parts` parts, each cut at the last good boundary before its even share."""
    start, end = unit
    share = max((end - start) // parts, 1)
    ranges: list[Range] = []
    while start < end:
        stop = min(start + share, end)
        if stop < end:
            stop = _boundary(text, start, stop)
        ranges.append((start, stop))
        start = stop
    return ranges


def _boundary(text: str, start: int, stop: int) -> int:
    """Return the best place to cut at or before `stop`, in the second half of the range."""
    middle = start + (stop - start) // 2
    for pattern in _BOUNDARIES:
        ends = [match.end() for match in pattern.finditer(text, middle, stop)]
        if ends:
            return ends[-1]
    # A surrogate pair or a base letter and its mark stay together where that is possible.
    while stop - 1 > middle and _joins_backwards(text[stop]):
        stop -= 1
    return stop


def _joins_backwards(char: str) -> bool:
    return "\u0300" <= char <= "\u036f" or char in "\u200d\ufe0f" or "\U0001f3fb" <= char <= "\U0001f3ff"


def _join(units: Sequence[tuple[Range, int]], room: int, overlap: int) -> list[tuple[Range, int]]:
    """Join neighbours for as long as they fit; a piece begins with the last of those before it that `overlap` holds."""
    pieces: list[tuple[Range, int]] = []
    for position, ((start, end), tokens) in enumerate(units):
        if pieces:
            (first, _), used = pieces[-1]
            if used + tokens + _JOIN <= room:
                pieces[-1] = (first, end), used + tokens + _JOIN
                continue
            repeated = 0
            for back in range(position - 1, -1, -1):
                (earlier, _), length = units[back]
                if earlier <= first or repeated + length + _JOIN > min(overlap, room - tokens):
                    break
                start, repeated = earlier, repeated + length + _JOIN
            tokens += repeated
        pieces.append(((start, end), tokens))
    return pieces


def shorten(text: str, room: int) -> Program[str]:
    """Return the longest beginning of `text` that ends with a sentence and has at most `room` tokens."""
    if room <= 0:
        return ""
    pieces = yield from cut(text, room)
    if not pieces:
        return ""
    (start, end), tokens = pieces[0]
    return text[start:end].rstrip() if tokens <= room else ""
