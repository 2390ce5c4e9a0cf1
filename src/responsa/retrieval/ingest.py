"""From documents to stored passages, in batches: what to embed and what to write, without doing either."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Generator, Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias, cast, runtime_checkable

from responsa.schema.nodes import Document, MetadataMode, TextNode

from .progress import IngestProgress, IngestReport
from .stores.contract import StoredDocument

DEFAULT_BATCH_SIZE: Final = 256
WRITE_SECONDS: Final = 2.0
"""What a process that is killed loses at most, beside one batch: the time after which vectors at hand are written."""
WRITE_PASSAGES: Final = 2048
"""The passages that are written at once where they come faster: each write costs as much as cutting 100 passages."""


@runtime_checkable
class NodeParser(Protocol):
    """Cuts documents into passages."""

    def get_nodes_from_documents(self, documents: Sequence[Document]) -> list[TextNode]:
        """Return the passages of all documents, in order."""
        ...


Transformation: TypeAlias = NodeParser | Callable[[list[TextNode]], list[TextNode]]


@dataclass(frozen=True, slots=True)
class Embed:
    """Asks for the vectors of texts, as passages; the answer is one vector a text, of length one."""

    texts: list[str]


@dataclass(frozen=True, slots=True)
class Write:
    """Asks for documents to be stored; when the answer comes they are."""

    documents: list[StoredDocument]


IngestStep: TypeAlias = Embed | Write | IngestProgress
IngestSteps: TypeAlias = "Generator[IngestStep, Sequence[array[float]] | None, IngestReport]"


def ingest_steps(
    documents: Iterable[Document],
    known: dict[str, str],
    transformations: Sequence[Transformation],
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    total: int | None = None,
    force: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> IngestSteps:
    """Go through documents and say what to embed and write; changed ones replace what is stored, equal ones are passed.

    Only the documents of one write are held at a time. Progress is told after each write, and within a document that
    takes several batches after each of them.

    Args:
        documents: The documents; read as they are needed.
        known: The content hash of every stored document, by identity.
        transformations: What cuts documents into passages, then what changes the passages.
        batch_size: The passages embedded in one call (more where one document has more). They are written when
            `WRITE_SECONDS` have passed since the last write, or there are `WRITE_PASSAGES`.
        total: How many documents there are, where `documents` has no length.
        force: Whether documents that are stored as they are are taken again too.
        clock: The time in seconds.
    """
    ingest = _Ingest(dict(known), batch_size, total, clock)
    if total is None and isinstance(documents, Sized):
        ingest.total = len(documents)
    for document in documents:
        if document.id_ in ingest.held:
            yield from ingest.write()
        content_hash = document.hash
        if not force and ingest.known.get(document.id_) == content_hash:
            yield from ingest.pass_over()
        else:
            yield from ingest.take(document.id_, content_hash, _passages(document, transformations))
    yield from ingest.end()
    return ingest.report


_Steps: TypeAlias = "Generator[IngestStep, Sequence[array[float]] | None, None]"


class _Ingest:
    """The documents under way: cut ones wait for their vectors, those with vectors for the next write."""

    def __init__(self, known: dict[str, str], batch_size: int, total: int | None, clock: Callable[[], float]) -> None:
        self.known = known
        self.total = total
        self.report = IngestReport()
        self.held: set[str] = set()
        self._batch_size = batch_size
        self._clock = clock
        self._start = self._written_at = clock()
        self._cut: list[tuple[str, str, list[TextNode]]] = []
        self._n_cut = 0
        self._embedded: list[StoredDocument] = []
        self._n_embedded = 0
        self._n_vectors = 0
        self._told = -1

    def take(self, doc_id: str, content_hash: str, nodes: list[TextNode]) -> _Steps:
        """Take a document to be stored."""
        self.held.add(doc_id)
        self._cut.append((doc_id, content_hash, nodes))
        self._n_cut += max(len(nodes), 1)
        if self._n_cut >= self._batch_size:
            yield from self._embed()
            if self._n_embedded >= WRITE_PASSAGES or self._clock() - self._written_at >= WRITE_SECONDS:
                yield from self.write()

    def pass_over(self) -> _Steps:
        """Count a document that is stored as it is."""
        self.report = replace(self.report, unchanged=self.report.unchanged + 1)
        if self.report.unchanged % self._batch_size == 0:
            yield self._progress()

    def write(self) -> _Steps:
        """Write all that is held."""
        yield from self._embed()
        if self._embedded:
            yield Write(self._embedded)
            self.report = _counted(self.report, self._embedded, self.known)
            self.known.update((document.doc_id, document.content_hash) for document in self._embedded)
            self.held.clear()
            self._embedded, self._n_embedded = [], 0
        self._written_at = self._clock()
        yield self._progress()

    def end(self) -> _Steps:
        """Write what is held, and tell the total where it has not been told."""
        if self.total is None or self.report.documents + len(self.held) != self._told:
            self.total = self.total or self.report.documents + len(self.held)
            yield from self.write()

    def _embed(self) -> _Steps:
        texts = [node.get_content(MetadataMode.EMBED) for _, _, nodes in self._cut for node in nodes]
        vectors: list[array[float]] = []
        for start in range(0, len(texts), self._batch_size):
            if start:
                yield self._progress()
            made = (yield Embed(texts[start : start + self._batch_size])) or ()
            vectors += made
            self._n_vectors += len(made)
        remaining = iter(vectors)
        self._embedded += [
            StoredDocument(doc_id, content_hash, nodes, [next(remaining) for _ in nodes])
            for doc_id, content_hash, nodes in self._cut
        ]
        self._n_embedded += self._n_cut
        self._cut, self._n_cut = [], 0

    def _progress(self) -> IngestProgress:
        self.report = replace(self.report, seconds=self._clock() - self._start)
        self._told = self.report.documents
        report = self.report
        return IngestProgress(
            self._told, self.total, report.unchanged, report.passages, self._n_vectors, report.seconds
        )


def _passages(document: Document, transformations: Sequence[Transformation]) -> list[TextNode]:
    nodes: list[TextNode] = [document]
    for transformation in transformations:
        if isinstance(transformation, NodeParser):
            nodes = transformation.get_nodes_from_documents(cast("list[Document]", nodes))
        else:
            nodes = transformation(nodes)
    return [node if node.ref_doc_id == document.id_ else replace(node, ref_doc_id=document.id_) for node in nodes]


def _counted(report: IngestReport, written: Sequence[StoredDocument], known: dict[str, str]) -> IngestReport:
    empty = tuple(document.doc_id for document in written if not document.nodes)
    replaced = sum(bool(document.nodes) and document.doc_id in known for document in written)
    return replace(
        report,
        inserted=report.inserted + len(written) - replaced - len(empty),
        replaced=report.replaced + replaced,
        empty=report.empty + empty,
        passages=report.passages + sum(len(document.nodes) for document in written),
    )
