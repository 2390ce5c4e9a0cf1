"""The headings, paragraphs and code fences of a text, as ranges of characters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from responsa.schema.excerpts import excerpt

LONGEST_HEADING: Final = 120
TITLE_PATH_SEPARATOR: Final = " › "

_FRONT_MATTER: Final = re.compile(r"---[ \t]*\r?\n(?:[^\n]*\n){1,100}?---[ \t]*(?:\r?\n|\Z)")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?=\s|\Z)")
_UNDERLINE: Final = re.compile(r" {0,3}(?:=+|-{3,})[ \t]*\r?\n?\Z")
_FENCE: Final = re.compile(r"[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})[^\n`]*\n?\Z")
_LINE: Final = re.compile(r"[^\n]*\n|[^\n]+")


class BlockKind(StrEnum):
    """What a block of text is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """A block and the blank lines after it; for a heading its level (1 to 6) and text."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks under it, up to the next heading; `path` names the headings from the outermost in."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def start(self) -> int:
        """Where the section starts, in characters."""
        return self.blocks[0].start

    @property
    def end(self) -> int:
        """Where it ends, exclusive."""
        return self.blocks[-1].end

    @property
    def is_bare(self) -> bool:
        """Whether it is a heading with nothing under it."""
        return all(block.kind == BlockKind.HEADING for block in self.blocks)


def sections(text: str, *, markdown: bool = True) -> list[Section]:
    """Cut a text at its headings.

    Args:
        text: Any text.
        markdown: Whether headings and code fences are marked as in Markdown; else there are only paragraphs.

    Returns:
        Sections that follow one another and cover the text.
    """
    found: list[Section] = []
    headings: list[tuple[int, str]] = []
    blocks: list[Block] = []
    for block in _blocks(text, markdown=markdown):
        if block.kind == BlockKind.HEADING:
            if blocks:
                found.append(Section(tuple(title for _, title in headings), tuple(blocks)))
                blocks = []
            headings = [heading for heading in headings if heading[0] < block.level]
            headings.append((block.level, block.title))
        blocks.append(block)
    if blocks:
        found.append(Section(tuple(title for _, title in headings), tuple(blocks)))
    return found


def plain_heading(title: str) -> str:
    """Return a heading's text without its links, emphasis, code marks, anchors and tags, at most 120 characters."""
    title = title[: 10 * LONGEST_HEADING]
    title = re.sub(r"<[^<>]{0,200}>", "", title)
    title = re.sub(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])", r"\1", title)
    title = re.sub(r"[ \t]*\{#[^{}]*\}[ \t]*\Z", "", title)
    title = re.sub(r"(\*{1,3}|`+|(?<!\w)_{1,2}(?=\S))(.+?)\1", r"\2", title)
    return excerpt(title, LONGEST_HEADING)


def front_matter(text: str) -> str:
    """Return the fields at the head of a Markdown text with the lines around them, or an empty text."""
    match = _FRONT_MATTER.match(text)
    return match[0] if match else ""


def _blocks(text: str, *, markdown: bool) -> Iterator[Block]:
    """Yield the blocks of a text in order; they cover it but for white space at its end."""
    scan = _Scan()
    at = 0
    if markdown and (head := front_matter(text)):
        yield Block(BlockKind.CODE, 0, len(head))
        at = scan.start = len(head)
    for match in _LINE.finditer(text, at):
        line, start, end = match[0], match.start(), match.end()
        if not markdown:
            yield from scan.paragraph_line(line, start)
        elif scan.fence:
            yield from scan.code_line(line, end)
        elif fence := _FENCE.match(line):
            yield from scan.flush(start)
            scan.kind, scan.fence = BlockKind.CODE, fence[1]
        elif heading := _HEADING.match(line):
            yield from scan.flush(start)
            scan.make_heading(len(heading[1]), _without_closing_marks(line[heading.end() :]))
        elif scan.lines == 1 and not scan.ended and _UNDERLINE.match(line):
            scan.make_heading(1 if "=" in line else 2, text[scan.start : scan.start + 10 * LONGEST_HEADING])
        else:
            yield from scan.paragraph_line(line, start)
    yield from scan.flush(len(text))


def _without_closing_marks(title: str) -> str:
    title = title.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1].isspace() else title


class _Scan:
    """The block being read: where it starts, what it is, and whether a blank line has ended it."""

    def __init__(self) -> None:
        self.start = 0
        self.kind = BlockKind.PARAGRAPH
        self.lines = 0
        self.ended = False
        self.fence = ""
        self._level = 0
        self._title = ""

    def flush(self, at: int) -> Iterator[Block]:
        """End the open block at `at`, and begin a paragraph. Blank lines alone belong to what follows."""
        if self.kind != BlockKind.PARAGRAPH or self.lines:
            title = plain_heading(self._title) if self._title else ""
            yield Block(self.kind, self.start, at, self._level, title)
            self.start = at
        self.kind, self.lines, self.ended, self.fence = BlockKind.PARAGRAPH, 0, False, ""
        self._level, self._title = 0, ""

    def paragraph_line(self, line: str, start: int) -> Iterator[Block]:
        """Add a line of prose; one after a blank line or a heading begins a new block."""
        if line.isspace() or (self.lines and not line.strip("> \t\r\n")):
            self.ended = self.lines > 0
            return
        if self.ended or self.kind != BlockKind.PARAGRAPH:
            yield from self.flush(start)
        self.lines += 1

    def code_line(self, line: str, end: int) -> Iterator[Block]:
        """Add a line of code, which may close its fence."""
        mark = line.strip(" \t\r\n>")
        if len(mark) >= len(self.fence) and not mark.strip(self.fence[0]):
            yield from self.flush(end)

    def make_heading(self, level: int, title: str) -> None:
        """Make the open block a heading; `title` starts with its line."""
        self.kind, self._level = BlockKind.HEADING, level
        self._title = title.lstrip().split("\n", 1)[0]
        self.lines = 0
