"""Rewriting a follow-up message alone."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from responsa.response_synthesizers.question import checked_question
from responsa.schema.messages import ChatMessage

from ..answering.rewriting import RewritingWriter, rewriting
from ..errors import language_of
from ..models.replies import RewriteReply
from ..models.requests import RewriteRequest
from ..runs.replies import WholeAnswer
from ..security.bearer import Reader
from ..service import service_of
from .documented import failures

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/rewrite", response_model=RewriteReply, responses=failures(409, 502, 503, 504))
async def rewrite(body: RewriteRequest, request: Request, caller: Reader) -> Response:
    """Tell what to search for, given a message and the conversation before it."""
    service = service_of(request)
    question = checked_question(body.question)
    history = [ChatMessage(message.role, message.content) for message in body.history]
    language = language_of(request.scope)
    run = service.runs.start(
        lambda: rewriting(question, history, service.llm),
        lambda run_id: RewritingWriter(run_id, question, language=language),
        owner=caller.key_id,
        language=language,
        asks_model=bool(history),
    )
    return WholeAnswer(run)
