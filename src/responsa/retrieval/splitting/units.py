"""The smallest pieces a passage is made of: sections that fit, paragraphs, sentences, lines, words, characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

from responsa.tokens.sentences import split_sentences

from .structure import Block, BlockKind, Section

TokenCount: TypeAlias = Callable[[str], int]

# A paragraph of at most this part of a passage is not cut at its sentences.
_SMALL_PART: Final = 6
_LONGEST_CLUSTER: Final = 32


class Boundary(IntEnum):
    """How good a place a unit's end is for ending a passage; higher is better."""

    NEVER = 0
    WORD = 1
    LINE = 2
    SENTENCE = 3
    PARAGRAPH = 4
    SECTION = 5


@dataclass(slots=True)
class Unit:
    """A piece of text, its tokens, the headings it stands under and how good its end is for ending a passage."""

    start: int
    end: int
    tokens: int
    path: tuple[str, ...]
    boundary: Boundary
    is_heading: bool = False


def units_of(text: str, parts: list[Section], limit: int, count: TokenCount) -> list[Unit]:
    """Return the units of a text's sections, in order, none of more than `limit` tokens unless it is one character."""
    units: list[Unit] = []
    for section in parts:
        tokens = count(text[section.start : section.end])
        if tokens <= limit:
            units.append(Unit(section.start, section.end, tokens, section.path, Boundary.SECTION, section.is_bare))
        else:
            for block in section.blocks:
                units.extend(_units_of_block(text, block, section.path, limit, count))
        units[-1].boundary = Boundary.NEVER if section.is_bare else Boundary.SECTION
    return _without_blank(text, units)


def _without_blank(text: str, units: list[Unit]) -> list[Unit]:
    """Leave out units of white space alone; the unit before one ends where it ended, as well for a passage."""
    kept: list[Unit] = []
    for unit in units:
        if not text[unit.start].isspace() or text[unit.start : unit.end].strip():
            kept.append(unit)
        elif kept:
            kept[-1].boundary = unit.boundary
    return kept


def _units_of_block(text: str, block: Block, path: tuple[str, ...], limit: int, count: TokenCount) -> Iterator[Unit]:
    tokens = count(text[block.start : block.end])
    heading = block.kind == BlockKind.HEADING
    whole = tokens <= limit if block.kind != BlockKind.PARAGRAPH else tokens <= limit // _SMALL_PART
    if whole:
        last = Boundary.NEVER if heading else Boundary.PARAGRAPH
        if text[block.start : block.end].rstrip().endswith((":", "：")):
            last = min(last, Boundary.LINE)
        yield Unit(block.start, block.end, tokens, path, last, heading)
        return
    ranges = _lines(text, block.start, block.end) if block.kind == BlockKind.CODE else _sentences(text, block)
    inner = Boundary.LINE if block.kind == BlockKind.CODE else Boundary.SENTENCE
    for start, end in ranges:
        for unit in _units_of_range(text, start, end, path, limit, count):
            unit.is_heading = heading
            if unit.end == block.end:
                unit.boundary = Boundary.NEVER if heading else Boundary.PARAGRAPH
            elif unit.end == end:
                unit.boundary = inner
            yield unit


def _units_of_range(
    text: str, start: int, end: int, path: tuple[str, ...], limit: int, count: TokenCount
) -> Iterator[Unit]:
    """Yield a sentence or line whole where it fits, else its lines, else pieces of them."""
    tokens = count(text[start:end])
    if tokens <= limit:
        yield Unit(start, end, tokens, path, Boundary.LINE)
        return
    for line_start, line_end in _lines(text, start, end):
        tokens = count(text[line_start:line_end])
        if tokens <= limit:
            yield Unit(line_start, line_end, tokens, path, Boundary.LINE)
            continue
        for piece_start, piece_end, piece_tokens in _pieces(text, line_start, line_end, limit, count):
            ends_line = piece_end == line_end
            yield Unit(piece_start, piece_end, piece_tokens, path, Boundary.LINE if ends_line else Boundary.WORD)


def _sentences(text: str, block: Block) -> Iterator[tuple[int, int]]:
    for start, end in split_sentences(text[block.start : block.end]):
        yield block.start + start, block.start + end


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = text.find("\n", start, end) + 1 or end
        yield start, stop
        start = stop


def _pieces(text: str, start: int, end: int, limit: int, count: TokenCount) -> Iterator[tuple[int, int, int]]:
    """Cut a range without line ends into pieces of at most `limit` tokens, at white space where there is some.

    The width tried first follows from the piece before, so that a long text is counted a few times at most.
    """
    width = 2 * limit
    while start < end:
        stop = min(end, start + width)
        tokens = count(text[start:stop])
        while tokens > limit and stop - start > 1:
            stop = start + max(1, min((stop - start) * limit // tokens, (stop - start) * 15 // 16))
            tokens = count(text[start:stop])
        width = max(1, min(2 * (stop - start), (stop - start) * limit // max(tokens, 1)))
        if stop < end and (better := _word_end(text, start, stop)) != stop:
            stop = better
            tokens = count(text[start:stop])
        yield start, stop, tokens
        start = stop


def _word_end(text: str, start: int, stop: int) -> int:
    """Return the best place for a cut at or shortly before `stop`: after white space, else between two signs."""
    for at in range(stop, (start + stop) // 2, -1):
        if text[at - 1].isspace() and not text[at].isspace():
            return at
    for at in range(stop, max(start, stop - _LONGEST_CLUSTER), -1):
        if not _joined(text[at - 1], text[at]):
            return at
    return stop


def _joined(before: str, after: str) -> bool:
    """Whether two characters stand for one sign: a letter and its accent, the parts of an emoji or a flag."""
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        before == "\u200d"
        or after == "\u200d"
        or unicodedata.category(after).startswith("M")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )
