"""The service's numbers, for Prometheus."""

from __future__ import annotations

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from ..security.bearer import Reader
from ..service import service_of
from .documented import failures

router = APIRouter(tags=["operation"])


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **failures()},
)
async def metrics(request: Request, caller: Reader) -> Response:
    """Tell the numbers of this process: requests, answers, calls, tokens, times, the queue, failures."""
    return Response(service_of(request).metrics.text(), media_type=CONTENT_TYPE_LATEST)
