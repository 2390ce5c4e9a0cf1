"""Small tables of text in aligned columns."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return lines of aligned columns: numbers to the right, texts to the left."""
    columns = list(zip(header, *rows, strict=True))
    widths = [max(map(width, column)) for column in columns]
    numeric = [all(_is_number(cell) for cell in column[1:]) for column in columns]
    lines = []
    for row in (header, *rows):
        cells = []
        for cell, wide, right in zip(row, widths, numeric, strict=True):
            cells.append(" " * (wide - width(cell)) + cell if right else padded(cell, wide))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def width(text: str) -> int:
    """Return how many columns a terminal uses for `text`."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def padded(text: str, columns: int) -> str:
    """Return `text` with blanks behind it, as wide as so many columns of a terminal."""
    return text + " " * (columns - width(text))


def _is_number(cell: str) -> bool:
    return not cell.strip("0123456789.-")
