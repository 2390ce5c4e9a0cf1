"""Answers: asked for, listened to again, stopped."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Request
from starlette.responses import Response

from responsa.schema.errors import AnswerStopped

from ..answering.asking import turn_of
from ..answering.writer import AnswerWriter
from ..errors import language_of
from ..models.replies import AnswerReply, StoppedReply
from ..models.requests import AnswerRequest
from ..runs.replies import EventStream, reply_of
from ..security.bearer import Reader
from ..service import service_of
from .documented import EVENT_STREAM, failures

router = APIRouter(prefix="/v1", tags=["answers"])

AnswerId = Annotated[str, Path(max_length=64, description="The answer's identity, as its first event names it.")]


@router.post(
    "/answer",
    response_model=AnswerReply,
    responses={200: {"content": EVENT_STREAM}, **failures(404, 409, 502, 503, 504)},
)
async def answer(body: AnswerRequest, request: Request, caller: Reader) -> Response:
    """Answer a question from an index or from the passages given."""
    service = service_of(request)
    turn = await turn_of(body, service)
    language = language_of(request.scope)
    run = service.runs.start(
        turn.events,
        lambda run_id: AnswerWriter(run_id, turn, language=language, prompts=body.include_prompts),
        owner=caller.key_id,
        language=language,
        asks_model=turn.synthesizer.needs_llm,
    )
    return reply_of(run, stream=body.stream, heartbeat=service.settings.heartbeat_seconds)


@router.get(
    "/answers/{answer_id}/events",
    response_class=Response,
    responses={200: {"content": EVENT_STREAM}, **failures(404)},
)
async def events(
    answer_id: AnswerId,
    request: Request,
    caller: Reader,
    last_event_id: Annotated[int, Header(ge=0, description="The id of the last event the client has.")] = 0,
) -> Response:
    """Go on with an answer's events after a lost connection; nothing is generated again."""
    service = service_of(request)
    run = service.runs.get(answer_id, caller.key_id)
    return EventStream(run, heartbeat=service.settings.heartbeat_seconds, after=last_event_id)


@router.delete("/answers/{answer_id}", responses=failures(404))
async def stop(answer_id: AnswerId, request: Request, caller: Reader) -> StoppedReply:
    """Stop an answer, and its request at the model server."""
    run = service_of(request).runs.get(answer_id, caller.key_id)
    await run.stop()
    if run.error is None:
        return StoppedReply(answer_id=run.run_id, state="done")
    return StoppedReply(answer_id=run.run_id, state="stopped" if isinstance(run.error, AnswerStopped) else "failed")
