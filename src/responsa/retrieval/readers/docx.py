"""DOCX: headings, paragraphs, lists, code and tables as Markdown."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

from .markup import MarkdownBuilder, one_line
from .parts import MOST_TAGS, Part, SourceFile
from .text import markdown_title

_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT: Final = "http://purl.oclc.org/ooxml/wordprocessingml/main"
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TITLE: Final = "{http://purl.org/dc/elements/1.1/}title"
# Deleted text, field codes, properties: they stand in the file but not on the page.
_NOT_SHOWN: Final = frozenset(_W + name for name in ("del", "moveFrom", "instrText", "delText", "pPr", "rPr", "rt"))
_HEADING_NAME: Final = re.compile(r"(?:heading|标题)\s*([1-9])\Z", re.IGNORECASE)
_HEADING_LETTER: Final = re.compile(r"(?:box)?head([a-c])\Z", re.IGNORECASE)
_TITLE_NAME: Final = re.compile(r"(?:book|part|chapter|appendix)?title\Z", re.IGNORECASE)
_CODE_NAME: Final = re.compile(r"code|preformatted|verbatim|listing", re.IGNORECASE)
_NOT_CODE_NAME: Final = re.compile(r"label|caption|annotation", re.IGNORECASE)
_LIST_NAME: Final = re.compile(r"list\s*(?:bullet|number|paragraph)", re.IGNORECASE)
_DEEPEST_BASE: Final = 10


def read_docx(source: SourceFile) -> Iterator[Part]:
    """Read a Word file; tracked deletions, comments and field codes are left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            styles = _Styles(_xml(archive, "word/styles.xml", source))
            body = _xml(archive, "word/document.xml", source)
            core = _xml(archive, "docProps/core.xml", source)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as error:
        raise source.failed("damaged", f"DOCX: {error}") from None
    except RuntimeError:
        # zipfile's way to say that an entry is encrypted.
        raise source.failed("encrypted") from None
    if body is None:
        raise source.failed("damaged", "DOCX: word/document.xml is missing")
    writer = _Writer(styles)
    try:
        writer.write(body)
    except RecursionError:
        raise source.failed("too_nested") from None
    text = writer.finished()
    if not text.strip():
        raise source.failed("no_text")
    title = one_line(core.findtext(_TITLE) or "") if core is not None else ""
    yield Part(text, {"title": markdown_title(text) or title[:200] or source.stem})


def _xml(archive: zipfile.ZipFile, name: str, source: SourceFile) -> ET.Element | None:
    """Return an entry's root element, None where there is no such entry; an entry is never unpacked past the limit."""
    try:
        entry = archive.getinfo(name)
    except KeyError:
        return None
    if entry.file_size > source.max_bytes:
        raise source.failed("unpacks_too_large", str(source.max_bytes))
    with archive.open(entry) as packed:
        content = packed.read(source.max_bytes + 1)
    if content.count(b"<") > MOST_TAGS:
        raise source.failed("too_many_tags", str(MOST_TAGS))
    try:
        # Word's strict form differs in the namespace alone.
        return ET.fromstring(content.replace(_STRICT.encode(), _W[1:-1].encode()))  # noqa: S314 - expat bounds entities
    except ET.ParseError as error:
        raise source.failed("damaged", f"DOCX: {name}: {error}") from None


class _Styles:
    """What a paragraph's style says: a heading's level, code, a list."""

    def __init__(self, root: ET.Element | None) -> None:
        self._names: dict[str, str] = {}
        self._bases: dict[str, str] = {}
        self._levels: dict[str, int] = {}
        for style in root.iter(_W + "style") if root is not None else ():
            identity = style.get(_W + "styleId", "")
            self._names[identity] = _value(style, "name") or identity
            self._bases[identity] = _value(style, "basedOn")
            level = _value(style, f"pPr/{_W}outlineLvl")
            if level.isdigit():
                self._levels[identity] = int(level) + 1

    def heading_level(self, identity: str) -> int:
        """Return a heading style's level from 1, or 0."""
        for style in self._with_bases(identity):
            name = self._names.get(style, style)
            if match := _HEADING_NAME.match(name):
                return int(match[1])
            if match := _HEADING_LETTER.match(name):
                return "abc".index(match[1].lower()) + 2
            if _TITLE_NAME.match(name):
                return 1
            if 1 <= self._levels.get(style, 0) <= 9:
                return self._levels[style]
        return 0

    def is_code(self, identity: str) -> bool:
        """Whether a style's paragraphs are lines of code."""
        return any(_CODE_NAME.search(name) and not _NOT_CODE_NAME.search(name) for name in self._names_of(identity))

    def is_list(self, identity: str) -> bool:
        """Whether a style's paragraphs are list items."""
        return any(_LIST_NAME.match(name) for name in self._names_of(identity))

    def _names_of(self, identity: str) -> list[str]:
        return [self._names.get(style, style) for style in self._with_bases(identity)]

    def _with_bases(self, identity: str) -> list[str]:
        chain: list[str] = []
        while identity and identity not in chain and len(chain) < _DEEPEST_BASE:
            chain.append(identity)
            identity = self._bases.get(identity, "")
        return chain


class _Writer:
    """Writes the blocks of a document's body."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles
        self._markdown = MarkdownBuilder()
        self._code: list[str] = []

    def write(self, element: ET.Element) -> None:
        """Write the paragraphs and tables in an element, whatever else wraps them."""
        for child in element:
            if child.tag == _W + "p":
                self._paragraph(child)
            elif child.tag == _W + "tbl":
                self._flush_code()
                self._markdown.table(
                    [[_cell(cell) for cell in _outermost(row, "tc")] for row in _outermost(child, "tr")]
                )
            elif child.tag not in _NOT_SHOWN and child.tag != _FALLBACK:
                self.write(child)

    def finished(self) -> str:
        """Return the text."""
        self._flush_code()
        return self._markdown.text()

    def _paragraph(self, paragraph: ET.Element) -> None:
        style = _value(paragraph, f"pPr/{_W}pStyle")
        text = "".join(_texts(paragraph))
        if self._styles.is_code(style):
            self._code.append(text)
            return
        self._flush_code()
        own_level = _value(paragraph, f"pPr/{_W}outlineLvl")
        level = int(own_level) + 1 if own_level in set("012345678") else self._styles.heading_level(style)
        if level:
            self._markdown.heading(level, text)
        elif paragraph.find(f"{_W}pPr/{_W}numPr") is not None or self._styles.is_list(style):
            depth = _value(paragraph, f"pPr/{_W}numPr/{_W}ilvl")
            self._markdown.item(text, depth=int(depth) if depth.isdigit() else 0)
        else:
            self._markdown.paragraph(text)

    def _flush_code(self) -> None:
        if self._code:
            self._markdown.code("\n".join(self._code))
            self._code.clear()


def _texts(element: ET.Element) -> Iterator[str]:
    """Yield the shown texts of a paragraph or run."""
    for child in element:
        if child.tag == _W + "t":
            yield child.text or ""
        elif child.tag == _W + "tab":
            yield "\t"
        elif child.tag in (_W + "br", _W + "cr"):
            yield "\n"
        elif child.tag == _W + "noBreakHyphen":
            yield "-"
        elif child.tag not in _NOT_SHOWN and child.tag != _FALLBACK:
            if child.tag == _W + "p":
                yield "\n"
            yield from _texts(child)


def _cell(cell: ET.Element) -> str:
    return " ".join("".join(_texts(paragraph)) for paragraph in _outermost(cell, "p"))


def _outermost(element: ET.Element, name: str) -> Iterator[ET.Element]:
    """Yield the shown elements of a name below another, without those inside one that was yielded.

    So the text of a table in a cell, or of a box in a paragraph, is read once, in the time of its length.
    """
    for child in element:
        if child.tag == _W + name:
            yield child
        elif child.tag not in _NOT_SHOWN and child.tag != _FALLBACK:
            yield from _outermost(child, name)


def _value(element: ET.Element, path: str) -> str:
    """Return the `val` of the element at a path below, or an empty text."""
    found = element.find(_W + path)
    return "" if found is None else found.get(_W + "val", "")
