"""What an answer would take, and the same question answered in several ways."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from ..answering.asking import turn_of
from ..answering.comparing import Comparison, ComparisonWriter
from ..answering.hits import hits_of
from ..answering.results import plan_json
from ..errors import language_of
from ..models.replies import CompareReply, HitReply, PlanDetail, PlanReply
from ..models.requests import AskRequest, CompareRequest
from ..runs.replies import reply_of
from ..security.bearer import Reader
from ..service import service_of
from .documented import EVENT_STREAM, failures

router = APIRouter(prefix="/v1", tags=["planning"])


@router.post("/plan", responses=failures(404, 409, 502, 503, 504))
async def plan(body: AskRequest, request: Request, caller: Reader) -> PlanReply:
    """Search, and tell which calls the answer would take, without asking the model."""
    turn = await turn_of(body, service_of(request))
    nodes = await turn.find()
    planned = await turn.plan(nodes)
    return PlanReply(
        question=turn.question,
        mode=turn.synthesizer.mode,
        plan=PlanDetail.model_validate(plan_json(planned)),
        hits=[HitReply(**hit) for hit in hits_of(nodes, coverage=planned.coverage)],
        related=[HitReply(**hit) for hit in hits_of(turn.related, first=len(nodes) + 1)],
    )


@router.post(
    "/compare",
    response_model=CompareReply,
    responses={200: {"content": EVENT_STREAM}, **failures(404, 409, 502, 503, 504)},
)
async def compare(body: CompareRequest, request: Request, caller: Reader) -> Response:
    """Answer one question from the same hits in several ways, side by side: calls, tokens, seconds, answers."""
    service = service_of(request)
    comparison = Comparison([await turn_of(body, service, mode) for mode in body.modes])
    language = language_of(request.scope)
    run = service.runs.start(
        comparison.events,
        lambda run_id: ComparisonWriter(run_id, body.question, language=language),
        owner=caller.key_id,
        language=language,
        asks_model=any(turn.synthesizer.needs_llm for turn in comparison.turns),
    )
    return reply_of(run, stream=body.stream, heartbeat=service.settings.heartbeat_seconds)
