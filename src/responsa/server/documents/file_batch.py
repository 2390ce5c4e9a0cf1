"""Some files on their way into an index: read one after another in a thread, and what came of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from responsa.schema.errors import DocumentRefused, ReadingFailed
from responsa.schema.nodes import Document

from ..errors import error_body
from .catalog import DocumentRecord
from .files import ContentFiles
from .reader import Reader


@dataclass(slots=True)
class FileBatch:
    """Files that are read together.

    Args:
        records: What is known of each.
        reader: Reads them.
        files: Where their contents are.
        held: The parts that the index holds of each, by its identity.

    Attributes:
        parts: How many parts each gave that could be read.
        failed: Why the others could not.
    """

    records: Sequence[DocumentRecord]
    reader: Reader
    files: ContentFiles
    held: Mapping[str, Set[str]]
    parts: dict[str, int] = field(default_factory=dict)
    failed: dict[str, ReadingFailed] = field(default_factory=dict)
    _yielded: int = 0
    _ends: list[int] = field(default_factory=list)

    def documents(self) -> Iterator[Document]:
        """Yield what is in all files, and an empty part in place of each that a file has no longer.

        A file that cannot be read leaves the others alone, and what the index holds of it.
        """
        for record in self.records:
            seen: set[str] = set()
            try:
                for part in self.reader.documents(self.files.path_of(record.id), record.name, record.id):
                    seen.add(part.id_)
                    self._yielded += 1
                    yield part
            except ReadingFailed as failure:
                self.failed[record.id] = failure
            else:
                self.parts[record.id] = len(seen)
                for gone in sorted(self.held.get(record.id, frozenset()) - seen):
                    self._yielded += 1
                    yield nothing_in_place_of(gone)
            self._ends.append(self._yielded)

    def files_done(self, documents_done: int) -> int:
        """Return how many files were gone through when so many of the documents were."""
        return bisect_right(self._ends, documents_done)

    def outcome(self, record: DocumentRecord) -> DocumentRecord:
        """Return what is known of a file once the batch has been gone through."""
        if record.id in self.failed:
            return replace(record, state="unreadable")
        return replace(record, state="indexed", parts=self.parts[record.id])

    def skipped(self) -> list[dict[str, object]]:
        """Return what is told of files that could not be read."""
        return [
            {
                "document_id": record.id,
                "name": record.name,
                "error": error_body(DocumentRefused((self.failed[record.id].render(),))),
            }
            for record in self.records
            if record.id in self.failed
        ]


def nothing_in_place_of(part: str) -> Document:
    """Return what takes a part out of an index when it is brought into it: a document without text."""
    return Document("", id_=part)
