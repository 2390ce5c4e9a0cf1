"""Jobs: looked at, cancelled, run again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request

from ..jobs.job import Job
from ..models.documents import JobReply, JobsReply
from ..security.bearer import Editor, Reader
from ..service import service_of
from .documented import failures
from .paging import Offset, next_offset

router = APIRouter(prefix="/v1/jobs", tags=["documents"])
JobId = Annotated[str, Path(max_length=64, description="The job's identity.")]


@router.get("", responses=failures(503))
async def listed(
    request: Request,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=200, description="The most jobs of a page.")] = 50,
    offset: Offset = 0,
) -> JobsReply:
    """List jobs, newest first."""
    found = await service_of(request).jobs.listed(limit + 1, offset)
    return JobsReply(jobs=[job_reply(job) for job in found[:limit]], next_offset=next_offset(found, limit, offset))


@router.get("/{job_id}", responses=failures(404, 503))
async def read(job_id: JobId, request: Request, caller: Reader) -> JobReply:
    """Tell how far a job is."""
    return job_reply(await service_of(request).jobs.get(job_id))


@router.delete("/{job_id}", responses=failures(404, 409, 503))
async def cancel(job_id: JobId, request: Request, caller: Editor) -> JobReply:
    """Cancel a job; what it has stored by then stays."""
    return job_reply(await service_of(request).jobs.cancel(job_id))


@router.post("/{job_id}/run", status_code=202, responses=failures(404, 409, 503))
async def run_again(job_id: JobId, request: Request, caller: Editor) -> JobReply:
    """Run a job again that failed, was cancelled or interrupted; it does what is left."""
    return job_reply(await service_of(request).jobs.run_again(job_id))


def job_reply(job: Job) -> JobReply:
    """Return a job as the service tells of it."""
    values = asdict(job)
    del values["worker"]
    values["files_total"] = job.files_total or len(job.documents)
    return JobReply(**values)
