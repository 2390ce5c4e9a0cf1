"""Cuts documents into passages of a bounded number of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from responsa.schema.errors import InvalidOption
from responsa.schema.identity import fingerprint
from responsa.schema.nodes import Document, TextNode
from responsa.tokens.estimate import estimate_tokens

from .structure import TITLE_PATH_SEPARATOR, sections
from .units import Boundary, TokenCount, Unit, units_of

# Metadata that speaks of a whole file and would make every passage new when one of them changes.
_OF_THE_FILE_ONLY: Final = frozenset({"file_hash"})
_PLAIN_TYPES: Final = frozenset({"text/plain", "application/pdf"})
# A section smaller than this part of a passage is joined with the next one where both fit.
_SMALL_PART: Final = 4


class SentenceSplitter:
    """Cuts documents into passages at headings, paragraphs and sentence ends, English and Chinese.

    A passage is an unchanged piece of its document: `document.text[start_char_idx:end_char_idx] == node.text`. Passages
    follow one another, lose nothing but white space between them, and repeat nothing unless `chunk_overlap` says so. A
    code fence stays whole where it fits. Each passage carries the document's metadata and its own `title_path`. The
    time taken grows with the length of the text only, whatever stands in it.

    Args:
        chunk_size: The most tokens a passage has; only a single character can have more.
        chunk_overlap: The most tokens of a passage's end that the next one repeats, in whole sentences.
        token_counter: Counts the tokens of a text; an upper estimate by script when left out.

    Raises:
        InvalidOption: A size is out of range.
    """

    def __init__(
        self, chunk_size: int = 320, chunk_overlap: int = 0, *, token_counter: TokenCount | None = None
    ) -> None:
        if chunk_size < 1:
            raise InvalidOption("chunk_size", chunk_size, "1 token or more")
        if not 0 <= chunk_overlap < chunk_size:
            raise InvalidOption("chunk_overlap", chunk_overlap, f"0 to {chunk_size - 1} tokens")
        self.chunk_size = chunk_size
        self.chunk_overlap = chunk_overlap
        self.token_counter: TokenCount = token_counter or estimate_tokens

    def get_nodes_from_documents(self, documents: Sequence[Document]) -> list[TextNode]:
        """Return the passages of the documents, in order.

        The identity of a passage follows from its document's identity, its place and its text: the same input gives
        the same passages.
        """
        return [node for document in documents for node in self._nodes(document)]

    def split_text(self, text: str) -> list[str]:
        """Return the passages of a Markdown text."""
        return [text[start:end] for start, end, _ in self._passages(text, markdown=True)]

    def _nodes(self, document: Document) -> Iterator[TextNode]:
        markdown = document.metadata.get("file_type") not in _PLAIN_TYPES
        base = {key: value for key, value in document.metadata.items() if key not in _OF_THE_FILE_ONLY}
        for start, end, path in self._passages(document.text, markdown=markdown):
            text = document.text[start:end]
            yield TextNode(
                text=text,
                id_=fingerprint(document.id_, str(start), str(end), text),
                metadata=_with_title_path(base, path),
                excluded_llm_metadata_keys=list(document.excluded_llm_metadata_keys),
                excluded_embed_metadata_keys=list(document.excluded_embed_metadata_keys),
                start_char_idx=start,
                end_char_idx=end,
                ref_doc_id=document.id_,
                metadata_template=document.metadata_template,
                metadata_separator=document.metadata_separator,
                text_template=document.text_template,
            )

    def _passages(self, text: str, *, markdown: bool) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """Yield where each passage starts and ends and the headings it stands under."""
        units = units_of(text, sections(text, markdown=markdown), self.chunk_size, self.token_counter)
        first = covered = 0
        while first < len(units):
            after = self._fitting(text, units, first, self._best_end(units, first))
            if after <= covered:
                # What is repeated leaves no room for anything new.
                first = covered
                continue
            start, end = _trimmed(text, units[first].start, units[after - 1].end)
            yield start, end, _common_path(units[first:after])
            covered = after
            first = self._overlapping(units, first, after) if after < len(units) else after

    def _best_end(self, units: list[Unit], first: int) -> int:
        """Return after which unit a passage that begins with `first` should end."""
        total = section_end = 0
        best, best_rank = first + 1, (False, Boundary.NEVER)
        for at in range(first, len(units)):
            unit = units[at]
            total += unit.tokens
            if total > self.chunk_size and at > first:
                return section_end or best
            if unit.boundary == Boundary.SECTION:
                if total >= self.chunk_size // _SMALL_PART or not _belongs(units, first, at + 1):
                    return at + 1
                section_end = at + 1
            half_full = total * 2 >= self.chunk_size
            if unit.boundary != Boundary.NEVER and (half_full, unit.boundary) >= best_rank:
                best, best_rank = at + 1, (half_full, unit.boundary)
        return len(units)

    def _fitting(self, text: str, units: list[Unit], first: int, after: int) -> int:
        """Return `after`, or the last unit before it with which the passage fits: joined texts may count more."""
        while after > first + 1:
            start, end = _trimmed(text, units[first].start, units[after - 1].end)
            if self.token_counter(text[start:end]) <= self.chunk_size:
                break
            after -= 1
        return after

    def _overlapping(self, units: list[Unit], first: int, after: int) -> int:
        """Return the unit the next passage begins with: `after`, or one before it as far as the overlap allows."""
        room = min(self.chunk_overlap, self.chunk_size - units[after].tokens)
        begin = after
        while begin - 1 > first and units[begin - 1].tokens <= room and units[begin - 1].boundary < Boundary.SECTION:
            begin -= 1
            room -= units[begin].tokens
        return begin


def _belongs(units: list[Unit], first: int, following: int) -> bool:
    """Whether a section may join the passage before it: it stands beside or under the passage's first section."""
    if following >= len(units):
        return False
    own = next((at for at in range(first, following) if not units[at].is_heading), first)
    parents = units[own].path[:-1]
    return units[following].path[: len(parents)] == parents


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _common_path(units: list[Unit]) -> tuple[str, ...]:
    """Return the headings that all units stand under, bare headings apart where there is more."""
    paths = [unit.path for unit in units if not unit.is_heading] or [units[-1].path]
    common = paths[0]
    for path in paths[1:]:
        same = 0
        while same < min(len(common), len(path)) and common[same] == path[same]:
            same += 1
        common = common[:same]
    return common or paths[0]


def _with_title_path(metadata: dict[str, Any], headings: tuple[str, ...]) -> dict[str, Any]:
    """Return the metadata with the title path: the document's own, or its title, then the headings."""
    outer = metadata.get("title_path") or metadata.get("title")
    path = [heading for heading in headings if heading]
    if isinstance(outer, str) and outer and (not path or path[0] != outer):
        path.insert(0, outer)
    return {**metadata, "title_path": TITLE_PATH_SEPARATOR.join(path)} if path else dict(metadata)
