"""Markdown and plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from responsa.retrieval.splitting.structure import BlockKind, front_matter, plain_heading, sections

from .encodings import decode
from .parts import Part, SourceFile

_TITLE_FIELD: Final = re.compile(r"^title[ \t]*:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE | re.IGNORECASE)


def read_text(source: SourceFile) -> Iterator[Part]:
    """Read plain text; its title is the file's name."""
    yield Part(_text(source), {"title": source.stem})


def read_markdown(source: SourceFile) -> Iterator[Part]:
    """Read Markdown, unchanged."""
    text = _text(source)
    yield Part(text, {"title": markdown_title(text) or source.stem})


def _text(source: SourceFile) -> str:
    text = decode(source)
    if not text.strip():
        raise source.failed("no_text")
    return text


def markdown_title(text: str) -> str:
    """Return the title a Markdown text gives itself, or an empty text.

    That is the field `title` at its head, or its first heading where no other stands as high.
    """
    if field := _TITLE_FIELD.search(front_matter(text)):
        return plain_heading(field[1])
    headings = [block for part in sections(text) for block in part.blocks if block.kind == BlockKind.HEADING]
    if not headings or any(other.level <= headings[0].level for other in headings[1:]):
        return ""
    return headings[0].title
