"""Documents taken in, and the work on them: into the index, anew, and out of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

from responsa.retrieval.progress import IngestProgress
from responsa.schema.errors import DocumentRefused, IndexLocked, ReadingFailed
from responsa.schema.nodes import Document

from ..errors import error_body
from ..jobs.job import Job
from ..jobs.queue import Report
from ..records.database import Records
from ..settings import ServerSettings
from .catalog import Catalog, DocumentRecord
from .files import ContentFiles
from .reader import Reader

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex

    from ..service import Indexes

T = TypeVar("T")

_ATTEMPTS_TO_WRITE: Final = 300  # each waits the index's `lock_timeout`
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """A file as it was sent.

    Args:
        name: What its sender calls it.
        content: Its content.
    """

    name: str
    content: BinaryIO


class Documents:
    """The documents of the service.

    Args:
        settings: Where contents are kept, and how much may be sent.
        records: Where it is kept what they are.
        indexes: The indexes they go into.
    """

    def __init__(self, settings: ServerSettings, records: Records, indexes: Indexes) -> None:
        self.catalog = Catalog(records)
        self._files = ContentFiles(settings.data_dir / "documents")
        self._settings = settings
        self._indexes = indexes

    async def take_in(self, index: str, sent: Sequence[Sent]) -> tuple[list[DocumentRecord], list[ReadingFailed]]:
        """Keep those files that can be read; return them, and why the others cannot.

        Raises:
            DocumentRefused: None can be read.
            RecordsUnavailable: They cannot be kept.
        """
        kept: list[DocumentRecord] = []
        refused: list[ReadingFailed] = []
        with self._reader() as reader:
            for one in sent:
                try:
                    kept.append(await self._take_in(index, one, reader))
                except ReadingFailed as failure:
                    refused.append(failure)
        if not kept:
            raise DocumentRefused(tuple(failure.render() for failure in refused))
        return kept, refused

    async def work(self, job: Job, report: Report) -> None:
        """Do a job; doing it again after it broke off does what is left.

        Raises:
            ResponsaError: It cannot be done.
        """
        if job.kind == "delete":
            await self._delete(job, report)
        else:
            await self._ingest(job, report)

    async def _take_in(self, index: str, sent: Sent, reader: Reader) -> DocumentRecord:
        name = clean_name(sent.name)
        path, size, sha256 = await asyncio.to_thread(self._files.take_in, sent.content)
        try:
            media_type = await asyncio.to_thread(reader.check, path, name)
            record = await self.catalog.put(DocumentRecord(index, name, media_type, size, sha256))
            await asyncio.to_thread(self._files.keep, path, record.id)
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        return record

    async def _ingest(self, job: Job, report: Report) -> None:
        index = await self._indexes.get(job.index, make=True)
        records = [one for one in await self.catalog.some(job.documents) if one.state != "deleting"]
        if job.kind == "reindex":
            await self._remove_passages(index, [record.id for record in records], keep={})
        with self._reader() as reader:
            going = _Going(records, reader, self._files)

            def progress(step: IngestProgress) -> None:
                report(files_done=going.done, passages=step.passages)

            await _patiently(lambda: index.arefresh(going.documents(), progress=progress))
        read = [record for record in records if record.id not in going.failed]
        await self._remove_passages(index, [record.id for record in read], keep=going.seen)
        # One that was deleted or sent again meanwhile is left to its own job.
        await self.catalog.exchange(
            [(record, replace(record, state="indexed", parts=len(going.seen[record.id]))) for record in read]
            + [(record, replace(record, state="unreadable")) for record in records if record.id in going.failed]
        )
        report(files_done=going.done, skipped=tuple(going.skipped()))

    async def _delete(self, job: Job, report: Report) -> None:
        index = await self._indexes.get(job.index, make=True)
        # One of them that was sent again meanwhile stays.
        gone = [one.id for one in await self.catalog.some(job.documents) if one.state == "deleting"]
        await self._remove_passages(index, gone, keep={})
        for document_id in gone:
            await asyncio.to_thread(self._files.remove, document_id)
        await self.catalog.remove(gone)
        report(files_done=len(job.documents))

    async def _remove_passages(
        self, index: VectorStoreIndex, document_ids: Sequence[str], *, keep: dict[str, set[str]]
    ) -> None:
        """Remove what the index holds of documents, but for what is to be kept of each."""
        wanted = set(document_ids)
        for part in await index.store.adocument_hashes():
            document_id = part.partition(".")[0]
            if document_id in wanted and part not in keep.get(document_id, ()):
                await _patiently(lambda part=part: index.adelete(part))  # type: ignore[misc]

    def _reader(self) -> Reader:
        return Reader(max_bytes=self._settings.max_upload_bytes, seconds=self._settings.reading_seconds)


@dataclass(slots=True)
class _Going:
    """Documents as they are read, in a thread.

    Attributes:
        done: How many were gone through.
        seen: The identities of what each gave.
        failed: Why some could not be read.
    """

    records: Sequence[DocumentRecord]
    reader: Reader
    files: ContentFiles
    done: int = 0
    seen: dict[str, set[str]] = field(default_factory=dict)
    failed: dict[str, ReadingFailed] = field(default_factory=dict)

    def documents(self) -> Iterator[Document]:
        """Yield what is in all files; a file that cannot be read leaves the others alone."""
        for record in self.records:
            seen = self.seen.setdefault(record.id, set())
            try:
                for document in self.reader.documents(self.files.path_of(record.id), record.name, record.id):
                    seen.add(document.id_)
                    yield document
            except ReadingFailed as failure:
                self.failed[record.id] = failure
            self.done += 1

    def skipped(self) -> Iterator[dict[str, object]]:
        """Yield what is told of files that could not be read."""
        for record in self.records:
            if record.id in self.failed:
                error = error_body(DocumentRefused((self.failed[record.id].render(),)))
                yield {"document_id": record.id, "name": record.name, "error": error}


def clean_name(name: str) -> str:
    """Return the last part of a name, as people read it: for showing, never for a path."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(char for char in last if char.isprintable()).strip()
    if len(shown) > _LONGEST_NAME:
        shown = shown[: _LONGEST_NAME - 20] + "…" + shown[-19:]
    return shown if shown.strip(".") else "untitled"


async def _patiently(write: Callable[[], Awaitable[T]]) -> T:
    """Write to an index once no other process does.

    Raises:
        IndexLocked: Another has written to it for minutes.
    """
    for _ in range(_ATTEMPTS_TO_WRITE):
        try:
            return await write()
        except IndexLocked:
            continue
    return await write()
