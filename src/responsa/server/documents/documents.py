"""Documents taken in, and the work on them: into the index, anew, and out of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar

from responsa.retrieval.progress import IngestProgress, ProgressCallback
from responsa.schema.errors import DocumentRefused, IndexLocked, ReadingFailed

from ..indexes import Indexes
from ..jobs.job import Job
from ..jobs.queue import Report
from ..records.database import Records
from ..settings import ServerSettings
from .catalog import Catalog, DocumentRecord
from .file_batch import FileBatch, nothing_in_place_of
from .files import ContentFiles
from .reader import Reader

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex

T = TypeVar("T")

FILES_AT_A_TIME: Final = 100
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
        async with self._reader() as reader:
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
            record = DocumentRecord(index, name, media_type, size, sha256)
            return await self.catalog.put(record, lambda document_id: self._files.keep(path, document_id))
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)

    async def _ingest(self, job: Job, report: Report) -> None:
        """Bring documents into the index, some files at a time, so that other processes write to it in between."""
        index = await self._indexes.get(job.index, make=True)
        ids = job.documents or tuple(await self.catalog.ids(job.index))
        report(files_total=len(ids))
        held = await _held(index, ids)
        skipped: list[dict[str, object]] = []
        passages = 0
        async with self._reader() as reader:
            for start in range(0, len(ids), FILES_AT_A_TIME):
                these = ids[start : start + FILES_AT_A_TIME]
                batch = FileBatch(await self._wanted(job, these, held), reader, self._files, held)
                progress = _reporting(report, batch, files=start, passages=passages)
                passages += await self._index(index, batch, progress, force=job.kind == "reindex")
                skipped += batch.skipped()
                report(files_done=start + len(these), passages=passages, embedded=passages, skipped=tuple(skipped))

    async def _index(
        self, index: VectorStoreIndex, batch: FileBatch, progress: ProgressCallback, *, force: bool
    ) -> int:
        """Bring some files into the index; return how many passages were stored."""
        if not batch.records:
            return 0
        done = await _patiently(lambda: index.arefresh(batch.documents(), force=force, progress=progress))
        # One that was deleted or sent again meanwhile is left to its own job.
        await self.catalog.exchange([(record, batch.outcome(record)) for record in batch.records])
        return done.passages

    async def _wanted(self, job: Job, ids: Sequence[str], held: Mapping[str, Set[str]]) -> list[DocumentRecord]:
        """Return those of some documents that the job is still to go through.

        What was indexed anew since the job was asked for, before it broke off, is not again.
        """
        records = [one for one in await self.catalog.some(ids) if one.state != "deleting"]
        if job.kind != "reindex":
            return records
        return [one for one in records if one.state != "indexed" or one.updated <= job.created or not held[one.id]]

    async def _delete(self, job: Job, report: Report) -> None:
        index = await self._indexes.get(job.index, make=True)
        # One of them that was sent again meanwhile stays, and so does one that is sent again while its parts go.
        gone = [one.id for one in await self.catalog.some(job.documents) if one.state == "deleting"]
        parts = sorted(chain.from_iterable((await _held(index, gone)).values()))
        if parts:
            await _patiently(lambda: index.arefresh([nothing_in_place_of(part) for part in parts]))
        await self.catalog.remove_deleted(gone, self._files.remove)
        report(files_done=len(job.documents))

    @asynccontextmanager
    async def _reader(self) -> AsyncIterator[Reader]:
        reader = Reader(max_bytes=self._settings.max_upload_bytes, seconds=self._settings.reading_seconds)
        try:
            yield reader
        finally:
            await asyncio.to_thread(reader.close)


def clean_name(name: str) -> str:
    """Return the last part of a name, as people read it: for showing, never for a path."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(char for char in last if char.isprintable()).strip()
    if len(shown) > _LONGEST_NAME:
        shown = shown[: _LONGEST_NAME - 20] + "…" + shown[-19:]
    return shown if shown.strip(".") else "untitled"


async def _held(index: VectorStoreIndex, document_ids: Iterable[str]) -> dict[str, set[str]]:
    """Return what the index holds of documents: the identities of each one's parts."""
    held: dict[str, set[str]] = {document_id: set() for document_id in document_ids}
    for part in await index.store.adocument_hashes():
        document_id = part.partition(".")[0]
        if document_id in held:
            held[document_id].add(part)
    return held


def _reporting(report: Report, batch: FileBatch, *, files: int, passages: int) -> ProgressCallback:
    """Return what reports how far a batch is, behind what was done before it."""

    def progress(step: IngestProgress) -> None:
        report(
            files_done=files + batch.files_done(step.documents_done),
            passages=passages + step.passages,
            embedded=passages + step.embedded,
        )

    return progress


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
