"""Sessions: begun, listed, read, renamed, deleted, forked, exported."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from responsa.memory.export import to_json, to_markdown

from ..errors import language_of
from ..models.sessions import (
    DeletedReply,
    ForkRequest,
    SessionDetailReply,
    SessionReply,
    SessionRequest,
    SessionsReply,
    StoredMessageReply,
    TitleRequest,
)
from ..security.bearer import Reader
from ..service import service_of
from ..sessions.shown import message_json, public
from ..sessions.store import key_of
from .documented import failures
from .paging import Offset, next_offset

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
SessionId = Annotated[str, Path(max_length=64, description="The session's identity.")]


@router.post("", status_code=201, responses=failures(503))
async def create(body: SessionRequest, request: Request, caller: Reader) -> SessionReply:
    """Begin a session; it belongs to the key it was made with."""
    return SessionReply(**asdict(await service_of(request).sessions.create(caller.key_id, body.title)))


@router.get("", responses=failures(503))
async def listed(
    request: Request,
    caller: Reader,
    limit: Annotated[int, Query(ge=1, le=200, description="The most sessions of a page.")] = 50,
    offset: Offset = 0,
) -> SessionsReply:
    """List the caller's sessions, last written first."""
    found = await service_of(request).sessions.listed(caller.key_id, limit + 1, offset)
    return SessionsReply(
        sessions=[SessionReply(**asdict(session)) for session in found[:limit]],
        next_offset=next_offset(found, limit, offset),
    )


@router.get("/{session_id}", responses=failures(404, 503))
async def read(session_id: SessionId, request: Request, caller: Reader) -> SessionDetailReply:
    """Return a session with its messages, and the answer under way."""
    service = service_of(request)
    session = await service.sessions.get(caller.key_id, session_id)
    messages = await service.sessions.messages(caller.key_id, session_id)
    return SessionDetailReply(
        **asdict(session),
        answer_id=service.lines.current(key_of(caller.key_id, session_id)),
        messages=[StoredMessageReply(**message_json(message)) for message in messages],
    )


@router.patch("/{session_id}", responses=failures(404, 503))
async def rename(session_id: SessionId, body: TitleRequest, request: Request, caller: Reader) -> SessionReply:
    """Give a session another title."""
    return SessionReply(**asdict(await service_of(request).sessions.rename(caller.key_id, session_id, body.title)))


@router.delete("/{session_id}", responses=failures(404, 503))
async def delete(session_id: SessionId, request: Request, caller: Reader) -> DeletedReply:
    """Delete a session; its answer under way is stopped."""
    service = service_of(request)
    await service.sessions.get(caller.key_id, session_id)
    async with service.lines.closed(key_of(caller.key_id, session_id)) as answer_id:
        if answer_id is not None:
            await service.runs.get(answer_id, caller.key_id).stop()
        await service.sessions.delete(caller.key_id, session_id)
    return DeletedReply(id=session_id, deleted=True)


@router.post("/{session_id}/fork", status_code=201, responses=failures(404, 503))
async def fork(session_id: SessionId, body: ForkRequest, request: Request, caller: Reader) -> SessionReply:
    """Begin a session with this one's messages up to one of them; this one stays as it is."""
    sessions = service_of(request).sessions
    return SessionReply(**asdict(await sessions.fork(caller.key_id, session_id, body.message_id, body.title)))


@router.get(
    "/{session_id}/export",
    response_class=Response,
    responses={
        200: {
            "description": "The conversation, to be saved as a file.",
            "content": {"text/markdown": {"schema": {"type": "string"}}, "application/json": {}},
        },
        **failures(404, 503),
    },
)
async def export(
    session_id: SessionId,
    request: Request,
    caller: Reader,
    form: Annotated[
        Literal["markdown", "json"], Query(alias="format", description="Markdown to read, JSON to take along.")
    ] = "markdown",
    reasoning: Annotated[bool, Query(description="Whether Markdown shows the model's reasoning.")] = False,
) -> Response:
    """Return a session as a document."""
    sessions = service_of(request).sessions
    session = await sessions.get(caller.key_id, session_id)
    messages = [public(message) for message in await sessions.messages(caller.key_id, session_id)]
    if form == "json":
        text = to_json(session, [replace(one, writer="") for one in messages])
        media_type, ending = "application/json", "json"
    else:
        text = to_markdown(session, messages, language=language_of(request.scope), reasoning=reasoning)
        media_type, ending = "text/markdown; charset=utf-8", "md"
    headers = {"Content-Disposition": f'attachment; filename="session.{ending}"'}
    return Response(text.encode("utf-8", "replace"), headers=headers, media_type=media_type)
