"""Where sentences end, in English, Chinese and text that mixes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .marks import CLOSING, COMMAS_AND_DASHES, MOST_NUMBERS, NUMBER, OPENING

_CLOSERS: Final = "\"'”’」』）】》〉)\\]}»*_`~"
_MARKS: Final = (
    rf"(?:[ \t]?{OPENING}{NUMBER}(?:[{COMMAS_AND_DASHES} ]{{1,2}}{NUMBER}){{0,{MOST_NUMBERS}}}{CLOSING}){{0,20}}"
)
_STOP: Final = re.compile(
    rf"(?P<stop>[。！？；…｡.!?]+)(?P<closing>[{_CLOSERS}]*{_MARKS})(?P<after_stop>\s*)"
    r"|(?P<line_end>[\n\r\f\v\x1c-\x1e\x85\u2028\u2029]\s*)"
)
_LINE_BREAK: Final = re.compile(r"\r\n|[\n\r\f\v\x1c-\x1e\x85\u2028\u2029]")
_BLOCK_START: Final = re.compile(
    r"(?:[-*+•·▪◦]\s|[(（]?\d{1,3}[.)）、．](?!\d)|[(（]?[一二三四五六七八九十]{1,3}[)）、．.]|#{1,6}\s|[>|]|```|~~~|={3}|-{3}|<)"
)
_OWN_LINE: Final = re.compile(r"\s*(?:#{1,6}\s|\||```|~~~)")
_QUOTED: Final = re.compile(r">[ \t]?(?=[^\s>])")
_LIST_NUMBER: Final = re.compile(r"[\s>*_(（]*\d{1,3}\Z")
_WORD_BEFORE: Final = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*\Z")
_WIDE: Final = re.compile(
    r"[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]"
)
_FULL_STOPS: Final = frozenset("。！？；…｡")

# An abbreviation's longest form, and the columns a line has at least where its text was wrapped and not ended.
_LONGEST_ABBREVIATION: Final = 16
_WRAPPED_COLUMNS: Final = 40

_ABBREVIATED: Final = (
    "mr mrs ms dr prof rev hon gen col capt lt sgt st mt ft vs cf viz al approx resp incl dept univ assn bros "
    "inc ltd co corp fig figs eq eqs sec secs ch chap vol vols ed eds repr trans pp par ref refs app "
    "jan feb mar apr jun jul aug sep sept oct nov dec e.g i.e eg ie a.k.a ph.d b.sc m.sc"
)
_ABBREVIATIONS: Final = frozenset(_ABBREVIATED.split())
_BEFORE_NUMBERS: Final = frozenset(["no", "nos", "p", "pg", "art", "nr"])


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence starts and ends, in characters.

    The ranges follow one another and cover the text: white space after a sentence, its closing quotes and brackets,
    and reference marks such as `[1]` belong to it. Blank lines, list items, headings and table rows end a sentence
    too; a line break inside wrapped prose does not. Takes time in proportion to the text's length.

    Args:
        text: Any text.

    Returns:
        A list of (start, end); empty for an empty text.
    """
    return [(start, end) for start, end, _ in sentences_from(text)]


def sentences_from(text: str, start: int = 0, line_start: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield where each sentence starts and ends from one of them on, and where the line starts that it ends in.

    Args:
        text: Any text.
        start: Where a sentence starts, in characters.
        line_start: Where the line starts that the sentence before it ends in, in characters.
    """
    for match in _STOP.finditer(text, start):
        white = match["line_end"]
        ends = False
        if white is None:
            white = match["after_stop"]
            ends = _stop_ends(text, match)
        end = match.end()
        if _LINE_BREAK.search(white):
            break_at = end - len(white)
            ends = ends or _line_ends(text, line_start, break_at, end, white)
            line_start = end
        if ends and text[start:end].strip():
            yield start, end, line_start
            start = end
    if start < len(text):
        yield start, len(text), line_start


def _stop_ends(text: str, match: re.Match[str]) -> bool:
    """Whether the stop found ends a sentence, and is no part of a number, a name or an abbreviation."""
    stop, end = match["stop"], match.end()
    if any(char in _FULL_STOPS for char in stop):
        return True
    following = text[end : end + 1]
    if not following:
        return True
    if not match["after_stop"]:
        before = text[match.start() - 1 : match.start()]
        return _WIDE.match(following) is not None and not (stop == "." and before.isdigit())
    if following.islower():
        return False
    return stop != "." or bool(match["closing"]) or not _abbreviates(text, match.start(), following)


def _abbreviates(text: str, dot: int, following: str) -> bool:
    """Whether the full stop at `dot` belongs to an abbreviation, an initial or a list's number."""
    head = text[max(0, dot - _LONGEST_ABBREVIATION) : dot]
    if head[-1:].isdigit():
        line = re.split(_LINE_BREAK, head)[-1]
        return (len(line) < len(head) or dot <= _LONGEST_ABBREVIATION) and _LIST_NUMBER.match(line) is not None
    found = _WORD_BEFORE.search(head)
    if found is None:
        return False
    word = found[0]
    if len(word) == 1:
        return word.isupper() and word != "I" and following.isupper()
    if word.lower() in _BEFORE_NUMBERS:
        return following.isdigit()
    initials = "." in word and all(len(part) == 1 and part.isupper() for part in word.split("."))
    return initials or word.lower() in _ABBREVIATIONS


def _line_ends(text: str, line_start: int, line_end: int, next_line: int, white: str) -> bool:
    """Whether a line's end is a sentence's end: it is not where prose is only wrapped."""
    if next_line >= len(text) or len(_LINE_BREAK.findall(white)) > 1 or _OWN_LINE.match(text, line_start, line_end):
        return True
    if text[line_start] == text[next_line] == ">" and (quoted := _QUOTED.match(text, next_line)):
        next_line = quoted.end()
    if _BLOCK_START.match(text, next_line):
        return True
    columns = line_end - line_start
    if columns < _WRAPPED_COLUMNS:
        columns += len(_WIDE.findall(text, line_start, line_end))
    return columns < _WRAPPED_COLUMNS
