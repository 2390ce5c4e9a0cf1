"""HTML: the main content as Markdown, without the page's furniture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from .encodings import decode
from .html_attributes import without_long_tags
from .markup import MarkdownBuilder, one_line
from .parts import MOST_TAGS, Part, SourceFile

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_DECLARED: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_NEVER_CONTENT: Final = (
    "script style noscript template svg math iframe object embed canvas audio video picture img map "
    "nav aside footer form button select input textarea dialog menu link meta title"
)
_FURNITURE_ROLES: Final = frozenset(
    ["navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog", "alert"]
)
_FURNITURE_NAMES: Final = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|header|footer|igation)?|breadcrumbs?|side-?bar|menu|toc|table-of-contents|cookies?|"
    r"pagination|pager|share|sharing|social|related|comments?|advert(?:isement)?s?|ads?|banner|footer|masthead|"
    r"skip-?link|search-?box|search|newsletter|subscribe|promo|popup|modal|debug)(?:$|[\s_-])",
    re.IGNORECASE,
)
# So deep a page is written by functions that call each other, well below Python's limit.
_DEEPEST: Final = 150
_SPACES: Final = re.compile(r"\s+")
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CONTAINERS: Final = frozenset(["div", "section", "ul", "ol", "dl", "table", "header", "span", "p", "td"])
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS: Final = (
    "address article blockquote body caption center dd details div dl dt fieldset figcaption figure header hgroup hr "
    "html legend li main ol p pre section summary table tbody td tfoot th thead tr ul"
)
_BLOCKS: Final = frozenset(_BLOCK_TAGS.split())
# A part named like furniture is content all the same where it holds more than this share of the page's text.
_FURNITURE_SHARE: Final = 0.5
# The marked main part is trusted where it holds at least this share.
_MAIN_SHARE: Final = 0.25


def read_html(source: SourceFile) -> Iterator[Part]:
    """Read a page's main content; its title is its only top heading, else what its head says."""
    declared = _DECLARED.search(source.data[:4096])
    root = _parsed(source, decode(source, declared[1].decode("ascii") if declared else None))
    title, url = _title(root), _url(root)
    _drop_furniture(root)
    main = _main(root)
    writer = _Writer()
    writer.write(main)
    text = writer.markdown.text()
    if not text.strip():
        raise source.failed("no_text")
    top = [one_line(_flat(heading)) for heading in main.iter("h1")]
    metadata = {"title": (top[0] if len(top) == 1 and top[0] else title)[:200] or source.stem}
    if url:
        metadata["url"] = url
    yield Part(text, metadata)


def _parsed(source: SourceFile, text: str) -> HtmlElement:
    try:
        from lxml import etree
    except ImportError:
        raise source.failed("missing_extra", "lxml") from None
    if text.count("<") > MOST_TAGS:
        raise source.failed("too_many_tags", str(MOST_TAGS))
    # As bytes in a known encoding: lxml refuses text whose XML head declares another.
    data = without_long_tags(text).encode("utf-8", "replace")
    try:
        root, whole = _tree(data, huge=False)
        if not whole:
            root, whole = _tree(data, huge=True)
            _flatten(root)
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise source.failed("damaged", f"HTML: {error}") from None
    if not whole:
        raise source.failed("too_nested")
    return root


def _tree(data: bytes, *, huge: bool) -> tuple[HtmlElement, bool]:
    """Return the tree of a page, and whether it holds the whole page: at a limit the parser drops the rest."""
    from lxml import etree, html

    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=huge)
    root = html.document_fromstring(data, parser=parser)
    return root, all(entry.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log)


def _flatten(root: HtmlElement) -> None:
    """Take the tags that stand too deep away, as unclosed ones come to; what is in them stays."""
    from lxml import etree

    deep: list[HtmlElement] = []
    depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "end" and depth >= _DEEPEST:
            deep.append(element)
    for element in deep:
        if element.tag in _BLOCKS:
            element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"
        element.drop_tag()


def _title(root: HtmlElement) -> str:
    for found in (root.xpath("string(//meta[@property='og:title']/@content)"), root.findtext(".//title")):
        if found and one_line(found):
            return one_line(found)
    return ""


def _url(root: HtmlElement) -> str:
    for found in root.xpath("//link[@rel='canonical']/@href | //meta[@property='og:url']/@content"):
        url = found.strip()
        if url.startswith(("https://", "http://")) and not any(char.isspace() for char in url):
            return str(url)[:2000]
    return ""


def _drop_furniture(root: HtmlElement) -> None:
    for element in list(root.iter(*_NEVER_CONTENT.split())):
        _drop(element)
    whole = max(1, len(root.text_content()))
    for element in list(root.iter()):
        if not isinstance(element.tag, str) or element.tag in ("html", "body", "main", "article"):
            continue
        if _is_hidden(element) or (_is_furniture(element) and len(element.text_content()) <= whole * _FURNITURE_SHARE):
            _drop(element)


def _drop(element: HtmlElement) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _is_hidden(element: HtmlElement) -> bool:
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or bool(_HIDDEN_STYLE.search(element.get("style", "")))
    )


def _is_furniture(element: HtmlElement) -> bool:
    if element.get("role", "") in _FURNITURE_ROLES:
        return True
    if element.tag == "header" and element.find(".//h1") is None:
        return True
    names = f"{element.get('class', '')} {element.get('id', '')}".strip()
    return element.tag in _CONTAINERS and bool(names) and bool(_FURNITURE_NAMES.search(names))


def _main(root: HtmlElement) -> HtmlElement:
    """Return the part marked as the main one, where it holds enough; else the body."""
    body = root.find("body")
    body = root if body is None else body
    whole = len(body.text_content().split())
    marked = [*body.iter("main"), *body.xpath(".//*[@role='main']")] or list(body.iter("article"))
    if len(marked) == 1 and len(marked[0].text_content().split()) >= whole * _MAIN_SHARE:
        return marked[0]
    return body


class _Writer:
    """Walks a tree of elements and writes their blocks."""

    def __init__(self) -> None:
        self.markdown = MarkdownBuilder()
        self._inline: list[str] = []

    def write(self, element: HtmlElement, depth: int = 0) -> None:
        """Write an element's own text and its children's; `depth` counts the lists around it."""
        self._inline.append(_spaced(element.text))
        for child in element:
            self._child(child, depth)
            self._inline.append(_spaced(child.tail))
        if element.tag in _BLOCKS:
            self._flush()

    def _child(self, child: HtmlElement, depth: int) -> None:
        tag = child.tag
        if tag == "br":
            self._inline.append("\n")
        elif tag in _HEADINGS:
            self._flush()
            self.markdown.heading(_HEADINGS[tag], _flat(child))
        elif tag in _BLOCKS:
            self._flush()
            self._block(child, depth)
        else:
            self.write(child, depth)

    def _block(self, child: HtmlElement, depth: int) -> None:
        if child.tag == "pre":
            self.markdown.code(child.text_content())
        elif child.tag == "table":
            self._table(child, depth)
        elif child.tag in ("ul", "ol"):
            self._list(child, depth)
        else:
            self.write(child, depth)

    def _list(self, element: HtmlElement, depth: int) -> None:
        for number, item in enumerate(element.iterchildren("li"), 1):
            if next(item.iter("pre", "table", *_HEADINGS), None) is not None:
                self.write(item, depth + 1)
                continue
            self.markdown.item(_flat(item), depth=depth, mark=f"{number}." if element.tag == "ol" else "-")
            for nested in _lists_in(item):
                self._list(nested, depth + 1)

    def _table(self, element: HtmlElement, depth: int) -> None:
        rows = [row for row in element.iter("tr") if next(row.iterancestors("table")) is element]
        cells = [list(row.iterchildren("td", "th")) for row in rows]
        lays_out = len(list(element.iter("table", "pre", *_HEADINGS))) > 1
        if lays_out or max(map(len, cells), default=0) < 2:
            for cell in (cell for row in cells for cell in row):
                self.write(cell, depth)
            return
        caption = element.find("caption")
        if caption is not None:
            self.markdown.paragraph(_flat(caption))
        self.markdown.table([[_flat(cell) for cell in row] for row in cells])

    def _flush(self) -> None:
        self.markdown.paragraph("".join(self._inline))
        self._inline.clear()


def _spaced(text: str | None) -> str:
    """Return text with the line ends of its source as the spaces they mean in HTML."""
    return _SPACES.sub(" ", text) if text else ""


def _flat(element: HtmlElement) -> str:
    """Return an element's text on one line, with spaces between its blocks and without lists in it."""
    pieces = [element.text or ""]
    for child in element:
        if child.tag not in ("ul", "ol"):
            apart = child.tag == "br" or child.tag in _BLOCKS
            pieces.append(f" {_flat(child)} " if apart else _flat(child))
        pieces.append(child.tail or "")
    return "".join(pieces)


def _lists_in(element: HtmlElement) -> Iterator[HtmlElement]:
    """Yield the lists in an element, not those inside them."""
    for child in element:
        if child.tag in ("ul", "ol"):
            yield child
        else:
            yield from _lists_in(child)
