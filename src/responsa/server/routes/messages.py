"""A session's messages: asked, edited, answered anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from responsa.schema.protocols import ChatStore

from ..answering.asking import turn_of
from ..errors import language_of
from ..models.requests import AnswerRequest
from ..models.sessions import RegenerateRequest, SessionAnswerReply
from ..runs.replies import reply_of
from ..security.bearer import Caller, Reader
from ..service import service_of
from ..sessions.changes import edited, reopened
from ..sessions.engine import SessionChatEngine, SessionMemory
from ..sessions.store import key_of
from ..sessions.writer import SessionTurn, SessionWriter
from .documented import EVENT_STREAM, failures
from .sessions import SessionId

router = APIRouter(prefix="/v1/sessions/{session_id}/messages", tags=["sessions"])
MessageId = Annotated[str, Path(max_length=64, description="The message's identity.")]
_REPLIES = {200: {"content": EVENT_STREAM}, **failures(404, 409, 502, 503, 504)}

Change = Callable[[ChatStore, str], Awaitable[None]]


@router.post("", response_model=SessionAnswerReply, responses=_REPLIES)
async def ask(session_id: SessionId, body: AnswerRequest, request: Request, caller: Reader) -> Response:
    """Answer a message of a session: rewritten for the search where there is a conversation before it, and stored.

    The message is stored before the model is asked, and before it waits for its turn. The same message again after an
    answer that broke off goes on with that turn. Messages of one session are answered one after another.
    """
    return await _answered(session_id, body, request, caller)


@router.post("/{message_id}/edit", response_model=SessionAnswerReply, responses=_REPLIES)
async def edit(
    session_id: SessionId, message_id: MessageId, body: AnswerRequest, request: Request, caller: Reader
) -> Response:
    """Put another question in the place of one, remove what followed it, and answer it; fork first to keep both."""
    await service_of(request).sessions.message(caller.key_id, session_id, message_id)
    return await _answered(
        session_id, body, request, caller, lambda store, key: edited(store, key, message_id, body.question)
    )


@router.post("/{message_id}/regenerate", response_model=SessionAnswerReply, responses=_REPLIES)
async def regenerate(
    session_id: SessionId,
    message_id: MessageId,
    request: Request,
    caller: Reader,
    body: RegenerateRequest | None = None,
) -> Response:
    """Write an answer anew, and remove what followed it; the text it had is kept with it."""
    sessions = service_of(request).sessions
    question, answer = await sessions.question_and_answer(caller.key_id, session_id, message_id)
    wanted = body or RegenerateRequest.model_validate({})
    asked = AnswerRequest.model_construct(**dict(wanted), question=question.content)
    return await _answered(session_id, asked, request, caller, lambda store, key: reopened(store, key, answer))


async def _answered(
    session_id: str, body: AnswerRequest, request: Request, caller: Caller, change: Change | None = None
) -> Response:
    """Answer a message once those before it are, after a change of what is stored."""
    service = service_of(request)
    sessions, key = service.sessions, key_of(caller.key_id, session_id)
    await sessions.get(caller.key_id, session_id)
    turn = await turn_of(body, service)
    store = await sessions.store()

    async def prepare() -> None:
        await sessions.get(caller.key_id, session_id)  # it may have been deleted meanwhile
        if change is not None:
            await change(store, key)

    memory = SessionMemory(key, chat_store=store, llm=service.llm)
    asked = SessionTurn(turn.question, SessionChatEngine(turn, memory, service.llm), memory, prepare, sessions.store)
    language = language_of(request.scope)

    async def joined(others_before: bool) -> bool:
        """Store the message now if it has to wait; tell whether it, or nothing, is stored."""
        if change is None and not others_before and not service.runs.admission.is_full:
            return False
        if change is None:
            await sessions.get(caller.key_id, session_id)
            await memory.aqueue(turn.question)
        return True

    place = service.lines.join(key, joined)
    memory.on_begun = place.let_next_join
    run = service.runs.start(
        lambda: service.metrics.watched(turn.synthesizer.mode, asked.events()),
        lambda run_id: SessionWriter(run_id, session_id, turn, language=language, prompts=body.include_prompts),
        owner=caller.key_id,
        language=language,
        asks_model=True,
        after=memory.after(place),
    )
    place.answer_id = run.run_id
    return reply_of(run, stream=body.stream, heartbeat=service.settings.heartbeat_seconds)
