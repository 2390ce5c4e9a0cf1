"""PDF, a part each page."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Any, Final

from responsa.retrieval.splitting.structure import TITLE_PATH_SEPARATOR

from .parts import Part, SourceFile

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

# No limit of time can be set on PDFium, so that what a hostile file may make of it is limited by number.
MOST_PAGES: Final = 20_000
MOST_CHARACTERS: Final = 100_000_000
MOST_PAGE_CHARACTERS: Final = 1_000_000
MOST_BOOKMARKS: Final = 10_000
MOST_PAGE_BOOKMARKS: Final = 200

# PDFium may be used by one thread at a time.
_PDFIUM: Final = threading.Lock()
_WRONG_PASSWORD: Final = 4
# How PDFium writes a hyphen that only divides a word at a line's end.
_DIVIDED: Final = re.compile(r"[\ufffe\x02](?:\r\n|\n)?")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_CHINESE: Final = re.compile(r"[\u3001-\u9fff\uff00-\uffef]")
_DIGITS: Final = re.compile(r"\d+")
_JUNK_TITLE: Final = re.compile(
    r"untitled|microsoft (?:word|powerpoint)|.*\.(?:docx?|pdf|tex|dvi|pptx?|indd|html?)\s*\Z", re.IGNORECASE
)
# The dots that lead to a page number in a table of contents.
_LEADERS: Final = re.compile(r"(?: {0,3}[.…·]){5,}")
# One of a page's first and last lines that returns on more than this part of the pages is furniture.
_EDGE_LINES: Final = 2
_FURNITURE_SHARE: Final = 0.5
_FEWEST_PAGES: Final = 4
_LONGEST_FURNITURE: Final = 120


def read_pdf(source: SourceFile) -> Iterator[Part]:
    """Read a PDF's pages, each with its `page` and the bookmarks that lead to it as its `title_path`.

    A page on which bookmarks begin new sections gives a part for each of them.
    """
    pages, outline, title = _extracted(source)
    bookmarks: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for entry in outline:
        bookmarks[entry[0]].append(entry)
    furniture = _furniture(pages)
    title = title or source.stem
    path: list[tuple[int, str]] = []
    empty: list[int] = []
    for number, lines in enumerate(pages, 1):
        kept = [line for line in lines if _skeleton(line) not in furniture] or lines
        if not any(kept):
            empty.append(number)
        here = bookmarks[number][:MOST_PAGE_BOOKMARKS]
        for index, (piece, path_here) in enumerate(_sections(kept, here, path)):
            path = path_here
            text = _joined(piece)
            if text.strip():
                headings = [title, *(heading for _, heading in path_here if heading != title)]
                metadata = {"title": title, "title_path": TITLE_PATH_SEPARATOR.join(headings), "page": number}
                yield Part(text, metadata, f"page {number}" if not index else f"page {number}.{index}")
    if len(empty) == len(pages):
        raise source.failed("scanned")
    if empty:
        source.note("pages_without_text", _ranges(empty))


def _sections(
    lines: list[str], bookmarks: list[tuple[int, int, str]], path: list[tuple[int, str]]
) -> Iterator[tuple[list[str], list[tuple[int, str]]]]:
    """Cut a page's lines where its bookmarks' headings stand; a heading that is not found begins with the page."""
    begin = at = 0
    for _, level, heading in bookmarks:
        wanted = _letters(heading)
        found = next((index for index in range(at, len(lines)) if _letters(lines[index]).endswith(wanted)), None)
        if found is not None:
            if any(lines[begin:found]):
                yield lines[begin:found], path
                begin = found
            at = found + 1
        path = [*(entry for entry in path if entry[0] < level), (level, heading)]
    yield lines[begin:], path


def _letters(line: str) -> str:
    return "".join(line.split()).casefold()


def check_pdf(source: SourceFile) -> None:
    """Check that a PDF can be opened, without reading it.

    Raises:
        ReadingFailed: It is encrypted or damaged.
    """
    with _opened(source):
        pass


@contextmanager
def _opened(source: SourceFile) -> Iterator[PdfDocument]:
    try:
        import pypdfium2
    except ImportError:
        raise source.failed("missing_extra", "pypdfium2") from None
    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(source.data)
        except pypdfium2.PdfiumError as error:
            if getattr(error, "err_code", None) == _WRONG_PASSWORD:
                raise source.failed("encrypted") from None
            raise source.failed("damaged", str(error)) from None
        try:
            yield document
        except pypdfium2.PdfiumError as error:
            raise source.failed("damaged", str(error)) from None
        finally:
            document.close()


def _extracted(source: SourceFile) -> tuple[list[list[str]], list[tuple[int, int, str]], str]:
    """Return each page's lines, the outline as (page, level, title), and the title."""
    with _opened(source) as document:
        return _pages(document, source), _outline(document), _title(document.get_metadata_dict())


def _pages(document: PdfDocument, source: SourceFile) -> list[list[str]]:
    pages: list[list[str]] = []
    cut: list[int] = []
    characters = 0
    for index in range(len(document)):
        if index >= MOST_PAGES or characters >= MOST_CHARACTERS:
            source.note("pages_left_out", str(index))
            break
        page = document[index]
        text_page = page.get_textpage()
        length = text_page.count_chars()
        if length > MOST_PAGE_CHARACTERS:
            cut.append(index + 1)
        text = _DIVIDED.sub("", text_page.get_text_range(0, min(length, MOST_PAGE_CHARACTERS)))
        characters += len(text)
        text_page.close()
        page.close()
        text = _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        pages.append([_LEADERS.sub(" … ", line).strip() for line in text.split("\n")])
    if cut:
        source.note("pages_cut", f"{_ranges(cut)} ({MOST_PAGE_CHARACTERS})")
    return pages


def _outline(document: PdfDocument) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, str]] = []
    for bookmark in islice(document.get_toc(max_depth=6), MOST_BOOKMARKS):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination else None
        heading = " ".join(_CONTROLS.sub("", bookmark.get_title()).split())[:120]
        if index is not None and heading:
            found.append((index + 1, bookmark.level, heading))
    return found


def _title(metadata: dict[str, Any]) -> str:
    title = " ".join(_CONTROLS.sub("", str(metadata.get("Title") or "")).split())[:200]
    return "" if _JUNK_TITLE.match(title) else title


def _furniture(pages: list[list[str]]) -> set[str]:
    """Return the running heads and feet: lines at a page's edges that return on most pages, whatever their numbers."""
    edges = [_edges([line for line in lines if line]) for lines in pages]
    edges = [lines for lines in edges if lines]
    if len(edges) < _FEWEST_PAGES:
        return set()
    counts = Counter(line for lines in edges for line in lines)
    least = len(edges) * _FURNITURE_SHARE
    return {line for line, count in counts.items() if count > least and len(line) <= _LONGEST_FURNITURE}


def _edges(lines: list[str]) -> set[str]:
    return {_skeleton(line) for line in (*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:])}


def _skeleton(line: str) -> str:
    return _DIGITS.sub("#", line)


def _joined(lines: list[str]) -> str:
    """Join a page's lines; full lines of Chinese are joined without a break, as it has no spaces."""
    widest = max(map(_columns, lines), default=0)
    text: list[str] = []
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        text.append(line)
        wraps = _CHINESE.match(line[-1:]) and _CHINESE.match(following[:1]) and _columns(line) * 5 >= widest * 4
        text.append("" if wraps else "\n")
    return "".join(text).strip("\n")


def _columns(line: str) -> int:
    return len(line) + len(_CHINESE.findall(line))


def _ranges(numbers: list[int]) -> str:
    """Write numbers as ranges: 3, 7-9."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
