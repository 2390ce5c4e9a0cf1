"""Whether the process is alive, and whether it can answer."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from ..errors import language_of
from ..models.replies import CheckReply, ReadyReply
from ..service import service_of
from .documented import failures

router = APIRouter(tags=["operation"])


@router.get("/healthz", responses=failures())
async def healthz() -> dict[str, str]:
    """Tell that the process is alive."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"model": ReadyReply, "description": "Some part cannot be used."}, **failures()})
async def readyz(request: Request, response: Response) -> ReadyReply:
    """Tell whether the servers, the databases and the indexes can be used, each with its reason."""
    checks = await service_of(request).readiness.checks()
    language = language_of(request.scope)
    ready = all(check.error is None for check in checks)
    response.status_code = 200 if ready else 503
    return ReadyReply(ready=ready, checks=[CheckReply(**check.shown(language)) for check in checks])
