"""What a file is, by its content first and its name only where the content is text."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zipfile
import zlib
from enum import StrEnum
from typing import Final

from .files import read_at_most
from .parts import SourceFile

_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_OFFICE: Final = "EncryptedPackage".encode("utf-16-le")
_BINARIES: Final = (
    (b"\x89PNG\r\n\x1a\n", "PNG picture"),
    (b"\xff\xd8\xff", "JPEG picture"),
    (b"GIF8", "GIF picture"),
    (b"II*\0", "TIFF picture"),
    (b"MM\0*", "TIFF picture"),
    (b"RIFF", "RIFF media"),
    (b"OggS", "Ogg media"),
    (b"ID3", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "Matroska video"),
    (b"\x7fELF", "program"),
    (b"\xca\xfe\xba\xbe", "program"),
    (b"\xcf\xfa\xed\xfe", "program"),
    (b"\0asm", "program"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"Rar!\x1a\x07", "RAR archive"),
    (b"\xfd7zXZ\0", "XZ archive"),
    (b"BZh", "bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"PAR1", "Parquet table"),
    (b"wOFF", "font"),
    (b"wOF2", "font"),
)
_HTML: Final = re.compile(rb"<(?:!doctype\s+html|html|head|body)[\s>]", re.IGNORECASE)
_XML_HEAD: Final = re.compile(rb"\s*(?:<\?xml[^>]{0,200}\?>|<!--(?s:.){0,2000}?-->|\s)*", re.IGNORECASE)
_OFFICE_PARTS: Final = (("word/", "DOCX"), ("xl/", "XLSX"), ("ppt/", "PPTX"))
_JSON_OBJECT: Final = re.compile(rb'[\[{][\s{]*"')
_ENTRY_KEY: Final = re.compile(rb'"(?:question|answer)"\s*:', re.IGNORECASE)
_MARKDOWN_SUFFIXES: Final = (".md", ".markdown", ".mdown", ".mkd", ".mdx")
_LINES_SUFFIXES: Final = (".jsonl", ".ndjson")


class FileKind(StrEnum):
    """The formats that are read, by their media type."""

    MARKDOWN = "text/markdown"
    TEXT = "text/plain"
    HTML = "text/html"
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    KNOWLEDGE = "application/jsonl"


def unpacked(source: SourceFile) -> SourceFile:
    """Return the file inside a gzip file, or the file itself.

    Raises:
        ReadingFailed: It unpacks to too much, or is damaged.
    """
    if not source.data.startswith(_GZIP):
        return source
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(source.data)) as packed:
            data = read_at_most(packed, source.max_bytes + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise source.failed("damaged", f"gzip: {error}") from None
    if len(data) > source.max_bytes:
        raise source.failed("unpacks_too_large", str(source.max_bytes))
    name = source.name[:-3] if source.name.lower().endswith(".gz") else source.name
    return SourceFile(source.path, name, data, source.max_bytes, source.encoding)


def detect(source: SourceFile) -> FileKind:
    """Return what a file is.

    Raises:
        ReadingFailed: It is empty, encrypted, damaged, or of a kind that is not read.
    """
    data, name = source.data, source.name.lower()
    if not data.strip():
        raise source.failed("empty")
    if data.startswith(b"%PDF-") or (b"%PDF-" in data[:1024] and b"startxref" in data[-2048:]):
        return FileKind.PDF
    if data.startswith(_ZIP):
        return _zipped(source)
    if data.startswith(_OLE):
        if _ENCRYPTED_OFFICE in data:
            raise source.failed("encrypted")
        raise source.failed("unsupported", "an old Office file (DOC, XLS, PPT)")
    if data.startswith(_GZIP):
        raise source.failed("binary", "gzip in gzip")
    if what := _binary(data[:1024]):
        raise source.failed("binary", what)
    if data.startswith(b"{\\rtf"):
        raise source.failed("unsupported", "RTF")
    return _text_kind(data, name)


def _binary(head: bytes) -> str | None:
    """Return what a binary file is; a text may begin with the same letters, so no text is looked at."""
    if b"\0" not in head:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
            return None
        except UnicodeDecodeError:
            pass
    if head[4:8] == b"ftyp":
        return "MP4 media"
    return next((what for magic, what in _BINARIES if head.startswith(magic)), None)


def _text_kind(data: bytes, name: str) -> FileKind:
    # A wide encoding is looked at without its zero bytes: these marks are all ASCII.
    head = data[:4096].lstrip(b"\xef\xbb\xbf\xff\xfe").replace(b"\0", b"")
    start = _XML_HEAD.match(head)
    body = head[start.end() :] if start else head
    if _HTML.match(body) or (name.endswith((".html", ".htm", ".xhtml", ".shtml")) and b"<" in head):
        return FileKind.HTML
    if name.endswith(_LINES_SUFFIXES):
        return FileKind.KNOWLEDGE
    if name.endswith(_MARKDOWN_SUFFIXES):
        return FileKind.MARKDOWN
    if _JSON_OBJECT.match(body) and _ENTRY_KEY.search(head):
        return FileKind.KNOWLEDGE
    return FileKind.TEXT


def _zipped(source: SourceFile) -> FileKind:
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            names = archive.namelist()
            if "mimetype" in names:
                raise source.failed("unsupported", "an OpenDocument or EPUB file")
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise source.failed("damaged", f"zip: {error}") from None
    for folder, what in _OFFICE_PARTS:
        if any(entry.startswith(folder) for entry in names):
            if what == "DOCX":
                return FileKind.DOCX
            raise source.failed("unsupported", what)
    raise source.failed("binary", "ZIP archive")
