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
    clock: Callable[[], float] = time.monotonic,
) -> IngestSteps:
    """Go through documents and say what to embed and write; changed ones replace what is stored, equal ones are passed.

    Only the documents of one batch are held at a time. Progress is told of what was written, never of what will be.

    Args:
        documents: The documents; read as they are needed.
        known: The content hash of every stored document, by identity.
        transformations: What cuts documents into passages, then what changes the passages.
        batch_size: The passages embedded in one call, and written in one step (more where one document has more).
        total: How many documents there are, where `documents` has no length.
        clock: The time in seconds.
    """
    start = clock()
    known = dict(known)
    report = IngestReport()
    batch: dict[str, tuple[str, list[TextNode]]] = {}
    n_waiting, n_told = 0, -1
    if total is None and isinstance(documents, Sized):
        total = len(documents)

    def flush() -> Generator[IngestStep, Sequence[array[float]] | None, None]:
        nonlocal report, n_waiting, n_told
        if batch:
            yield from _embed_and_write(batch, batch_size)
            report = _counted(report, batch, known)
            known.update((doc_id, content_hash) for doc_id, (content_hash, _) in batch.items())
            batch.clear()
            n_waiting = 0
        report = replace(report, seconds=clock() - start)
        yield IngestProgress(report.documents, total, report.unchanged, report.passages, report.seconds)
        n_told = report.documents

    for document in documents:
        if document.id_ in batch:
            yield from flush()
        content_hash = document.hash
        if known.get(document.id_) == content_hash:
            report = replace(report, unchanged=report.unchanged + 1)
            if report.unchanged % batch_size == 0:
                yield from flush()
            continue
        nodes = _passages(document, transformations)
        batch[document.id_] = (content_hash, nodes)
        n_waiting += max(len(nodes), 1)
        if n_waiting >= batch_size:
            yield from flush()
    if total is None or report.documents + len(batch) != n_told:
        total = total or report.documents + len(batch)
        yield from flush()
    return report


def _passages(document: Document, transformations: Sequence[Transformation]) -> list[TextNode]:
    nodes: list[TextNode] = [document]
    for transformation in transformations:
        if isinstance(transformation, NodeParser):
            nodes = transformation.get_nodes_from_documents(cast("list[Document]", nodes))
        else:
            nodes = transformation(nodes)
    return [node if node.ref_doc_id == document.id_ else replace(node, ref_doc_id=document.id_) for node in nodes]


def _embed_and_write(
    batch: dict[str, tuple[str, list[TextNode]]], batch_size: int
) -> Generator[IngestStep, Sequence[array[float]] | None, None]:
    texts = [node.get_content(MetadataMode.EMBED) for _, nodes in batch.values() for node in nodes]
    vectors: list[array[float]] = []
    for start in range(0, len(texts), batch_size):
        vectors += (yield Embed(texts[start : start + batch_size])) or ()
    remaining = iter(vectors)
    yield Write(
        [
            StoredDocument(doc_id, content_hash, nodes, [next(remaining) for _ in nodes])
            for doc_id, (content_hash, nodes) in batch.items()
        ]
    )


def _counted(report: IngestReport, batch: dict[str, tuple[str, list[TextNode]]], known: dict[str, str]) -> IngestReport:
    empty = tuple(doc_id for doc_id, (_, nodes) in batch.items() if not nodes)
    replaced = sum(bool(nodes) and doc_id in known for doc_id, (_, nodes) in batch.items())
    return replace(
        report,
        inserted=report.inserted + len(batch) - replaced - len(empty),
        replaced=report.replaced + replaced,
        empty=report.empty + empty,
        passages=report.passages + sum(len(nodes) for _, nodes in batch.values()),
    )
