"""Documents: sent, listed, indexed anew, deleted; each change is a job."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Path, Query, Request
from starlette.datastructures import UploadFile

from responsa.schema.errors import InvalidRequest

from ..documents.catalog import DocumentRecord
from ..documents.documents import Sent
from ..errors import language_of
from ..jobs.job import Job, JobKind
from ..models.documents import (
    UPLOAD_BODY,
    DocumentReply,
    DocumentsReply,
    EntriesRequest,
    JobReply,
    RefusedReply,
    TakenReply,
)
from ..security.bearer import Editor, Reader
from ..service import Service, service_of
from .documented import failures
from .jobs import job_reply
from .paging import Offset, next_offset

UPLOAD_PATH: Final = "/v1/documents"
_OTHER_FIELDS: Final = 4
_LONGEST_FIELD: Final = 65_536

router = APIRouter(prefix="/v1", tags=["documents"])
DocumentId = Annotated[str, Path(max_length=64, description="The document's identity.")]
IndexQuery = Annotated[
    str | None, Query(max_length=64, description="The index; the service's first one when left out.")
]


@router.post("/documents", status_code=202, responses=failures(404, 503), openapi_extra={"requestBody": UPLOAD_BODY})
async def upload(request: Request, caller: Editor) -> TakenReply:
    """Take files into an index; one of a name that is there takes its place. What they are, their content says."""
    service = service_of(request)
    service.jobs.check_room()
    # Read only now, so that nothing of a stranger's body is.
    async with request.form(
        max_files=service.settings.max_upload_files, max_fields=_OTHER_FIELDS, max_part_size=_LONGEST_FIELD
    ) as form:
        files = [part for part in form.getlist("files") if isinstance(part, UploadFile)]
        if not files or len(files) < len(form.getlist("files")):
            raise InvalidRequest(("files: at least one file is needed, each with a file name",))
        index = form.get("index")
        if index is not None and not isinstance(index, str):
            raise InvalidRequest(("index: not a text",))
        sent = [Sent(file.filename or "", file.file) for file in files]
        return await _taken(service, service.indexes.named(index), sent, language_of(request.scope))


@router.post("/entries", status_code=202, responses=failures(404, 503))
async def entries(body: EntriesRequest, request: Request, caller: Editor) -> TakenReply:
    """Take a set of knowledge entries into an index; a set of a name that is there takes its place."""
    service = service_of(request)
    service.jobs.check_room()
    lines = [entry.model_dump_json(exclude_none=True) for entry in body.entries]
    sent = [Sent(f"{body.name}.jsonl", io.BytesIO("\n".join(lines).encode("utf-8", "replace")))]
    return await _taken(service, service.indexes.named(body.index), sent, language_of(request.scope))


@router.get("/documents", responses=failures(404, 503))
async def listed(
    request: Request,
    caller: Reader,
    index: IndexQuery = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="The most documents of a page.")] = 100,
    offset: Offset = 0,
) -> DocumentsReply:
    """List the documents that were sent to an index, by name."""
    service = service_of(request)
    found = await service.documents.catalog.listed(service.indexes.named(index), limit + 1, offset)
    return DocumentsReply(
        documents=[_shown(record) for record in found[:limit]],
        next_offset=next_offset(found, limit, offset),
    )


@router.get("/documents/{document_id}", responses=failures(404, 503))
async def read(document_id: DocumentId, request: Request, caller: Reader) -> DocumentReply:
    """Tell what is known of a document."""
    return _shown(await service_of(request).documents.catalog.get(document_id))


@router.delete("/documents/{document_id}", status_code=202, responses=failures(404, 503))
async def delete(document_id: DocumentId, request: Request, caller: Editor) -> JobReply:
    """Delete a document, and what the index holds of it."""
    service = service_of(request)
    record = await service.documents.catalog.get(document_id)
    service.jobs.check_room()
    await service.documents.catalog.change(record.id, state="deleting")
    return await _submitted(service, "delete", record.index, [record])


@router.post("/documents/reindex", status_code=202, responses=failures(404, 503))
async def reindex_all(request: Request, caller: Editor, index: IndexQuery = None) -> JobReply:
    """Read, cut and embed all documents of an index anew; what is there of each is found until the new is.

    They are those that were sent to it: an index in a new directory, for another embedding model, is filled with them.
    """
    service = service_of(request)
    name = service.indexes.named(index)
    total = len(await service.documents.catalog.ids(name))
    return job_reply(await service.jobs.submit(Job("reindex", name, (), files_total=total)))


@router.post("/documents/{document_id}/reindex", status_code=202, responses=failures(404, 503))
async def reindex(document_id: DocumentId, request: Request, caller: Editor) -> JobReply:
    """Read, cut and embed a document anew; what is there of it is found until the new is."""
    service = service_of(request)
    record = await service.documents.catalog.get(document_id)
    return await _submitted(service, "reindex", record.index, [record])


async def _taken(service: Service, index: str, sent: Sequence[Sent], language: str) -> TakenReply:
    kept, refused = await service.documents.take_in(index, sent)
    return TakenReply(
        job=await _submitted(service, "ingest", index, kept),
        documents=[_shown(record) for record in kept],
        refused=[
            RefusedReply(name=failure.path, reason=failure.reason, message=failure.render(language))
            for failure in refused
        ],
    )


async def _submitted(service: Service, kind: JobKind, index: str, records: Sequence[DocumentRecord]) -> JobReply:
    job = Job(kind, index, tuple(dict.fromkeys(record.id for record in records)))
    return job_reply(await service.jobs.submit(job))


def _shown(record: DocumentRecord) -> DocumentReply:
    return DocumentReply(**asdict(record))
