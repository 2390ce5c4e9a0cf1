"""Builds the Markdown that HTML and DOCX become: headings, paragraphs, lists, code and tables, and no more."""

from __future__ import annotations

import re
from typing import Final

_FENCE_RUN: Final = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_INDENT: Final = "  "


class MarkdownBuilder:
    """Collects blocks and joins them into a text."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._joined_to_last: list[bool] = []
        self._ends_with_item = False

    def heading(self, level: int, text: str) -> None:
        """Add a heading of level 1 to 6."""
        if text := one_line(text):
            self._add("#" * max(1, min(level, 6)) + " " + text)

    def paragraph(self, text: str) -> None:
        """Add a paragraph; its line breaks stay."""
        lines = (one_line(line) for line in text.split("\n"))
        if text := "\n".join(line for line in lines if line):
            self._add(text)

    def item(self, text: str, *, depth: int = 0, mark: str = "-") -> None:
        """Add a list item, right below the one before it."""
        if text := one_line(text):
            self._add(f"{_INDENT * min(depth, 8)}{mark} {text}", item=True)

    def code(self, text: str) -> None:
        """Add code inside a fence that is longer than any in it."""
        text = _CONTROLS.sub("", text).strip("\n").rstrip()
        if text.strip():
            longest = max((len(run) for run in _FENCE_RUN.findall(text)), default=2)
            fence = "`" * (longest + 1 if longest > 2 else 3)
            self._add(f"{fence}\n{text}\n{fence}")

    def table(self, rows: list[list[str]]) -> None:
        """Add a table; its first row is its head."""
        cleaned = [[one_line(cell).replace("|", "\\|") for cell in row] for row in rows]
        cleaned = [row for row in cleaned if any(row)]
        if not cleaned:
            return
        width = max(len(row) for row in cleaned)
        if width == 1:
            for row in cleaned:
                self.paragraph(row[0])
            return
        lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in cleaned]
        lines.insert(1, "|" + " --- |" * width)
        self._add("\n".join(lines))

    def text(self) -> str:
        """Return everything as Markdown."""
        pieces: list[str] = []
        for block, joined in zip(self._blocks, self._joined_to_last, strict=True):
            if pieces:
                pieces.append("\n" if joined else "\n\n")
            pieces.append(block)
        return "".join(pieces)

    def _add(self, block: str, *, item: bool = False) -> None:
        self._joined_to_last.append(item and self._ends_with_item)
        self._blocks.append(block)
        self._ends_with_item = item


def one_line(text: str) -> str:
    """Return a text on one line, with single spaces and without control characters."""
    return " ".join(_CONTROLS.sub(" ", text).split())
