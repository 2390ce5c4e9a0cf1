"""Feedback: given, changed, taken back, read."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from responsa.schema.errors import ScopeMissing

from ..models.feedback import FeedbackListReply, FeedbackReply, FeedbackRequest
from ..models.sessions import DeletedReply
from ..security.bearer import Reader
from ..security.keys import Scope
from ..service import service_of
from .documented import failures
from .paging import Offset, next_offset

router = APIRouter(prefix="/v1/feedback", tags=["feedback"])


@router.post("", status_code=201, responses=failures(404, 503))
async def give(body: FeedbackRequest, request: Request, caller: Reader) -> FeedbackReply:
    """Store what a person says of an answer; saying it again of the same answer takes its place."""
    service = service_of(request)
    content: dict[str, Any] = body.model_dump(mode="json")
    if body.answer_id is None:
        # What was said is what is stored, whatever the request says of it.
        question, answer = await service.sessions.question_and_answer(
            caller.key_id, body.session_id or "", body.message_id or ""
        )
        content |= {"question": question.content, "answer": answer.content}
        target = f"message/{body.session_id}/{body.message_id}"
    else:
        target = f"answer/{body.answer_id}"
    return FeedbackReply(**await service.feedback.put(caller.key_id, target, content))


@router.get("", responses=failures(503))
async def listed(
    request: Request,
    caller: Reader,
    everyone: Annotated[
        bool, Query(description="Everyone's instead of the caller's own; needs the scope admin.")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=1000, description="The most of a page.")] = 100,
    offset: Offset = 0,
) -> FeedbackListReply:
    """List feedback, newest first."""
    if everyone and not caller.allows(Scope.ADMIN):
        raise ScopeMissing(Scope.ADMIN.value)
    owner = None if everyone else caller.key_id
    found = await service_of(request).feedback.listed(owner, limit + 1, offset)
    return FeedbackListReply(
        feedback=[FeedbackReply(**one) for one in found[:limit]],
        next_offset=next_offset(found, limit, offset),
    )


@router.delete("/{feedback_id}", responses=failures(404, 503))
async def take_back(
    feedback_id: Annotated[str, Path(max_length=64, description="The feedback's identity.")],
    request: Request,
    caller: Reader,
) -> DeletedReply:
    """Take feedback back."""
    await service_of(request).feedback.remove(caller.key_id, feedback_id)
    return DeletedReply(id=feedback_id, deleted=True)
