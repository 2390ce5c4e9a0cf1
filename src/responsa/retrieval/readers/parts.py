"""What the readers of single formats are given and give back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from responsa.schema.errors import ReadingFailed

from .report import Note

MOST_TAGS: Final = 4_000_000
"""The most tags of a file that is read as a tree, whose memory they are: about a gigabyte for so many."""


@dataclass(frozen=True, slots=True)
class Part:
    """One document of a file: its text, what is known of it, and a key that tells it from the file's others."""

    text: str
    metadata: dict[str, Any] = field(default_factory=dict)
    key: str = ""


@dataclass(slots=True)
class SourceFile:
    """A file's bytes and what a format's reader needs besides.

    Args:
        path: The file's path as it is shown.
        name: The file's name, without `.gz`.
        data: Its bytes, unpacked.
        max_bytes: The most bytes it may unpack to.
        encoding: The text's encoding where the user named it.
    """

    path: str
    name: str
    data: bytes
    max_bytes: int
    encoding: str | None = None
    notes: list[Note] = field(default_factory=list)

    @property
    def stem(self) -> str:
        """The name without its last extension."""
        stem, dot, _ = self.name.rpartition(".")
        return stem if dot and stem else self.name

    def failed(self, reason: str, detail: str = "") -> ReadingFailed:
        """Return the error that says why the file cannot be read."""
        return ReadingFailed(self.path, reason, detail)

    def note(self, reason: str, detail: str = "") -> None:
        """Write a note into the report."""
        self.notes.append(Note(reason, detail))


FormatReader: TypeAlias = Callable[[SourceFile], Iterator[Part]]
