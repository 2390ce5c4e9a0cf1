"""What requests and replies on sessions look like."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .replies import AnswerReply, CitationReply, HitReply, ReplyModel
from .requests import AnsweringRequest, RequestModel

Title = Annotated[str, Field(max_length=200, description="What it is called.")]


class SessionRequest(RequestModel):
    """A session to be begun."""

    title: Title = ""


class TitleRequest(RequestModel):
    """Another title."""

    title: Annotated[str, Field(min_length=1, max_length=200, description="What it is to be called.")]


class ForkRequest(RequestModel):
    """A session to be begun with another's messages."""

    message_id: str | None = Field(
        None, max_length=64, description="The last message to take over; all of them when left out."
    )
    title: Annotated[str | None, Field(max_length=200, description="Its title; the other's when left out.")] = None


class RegenerateRequest(AnsweringRequest):
    """How an answer is to be written anew."""

    stream: bool = Field(False, description="Whether to send events as they happen, instead of one JSON document.")
    include_prompts: bool = Field(False, description="Whether the trace holds each call's messages.")


class SessionReply(ReplyModel):
    """A session."""

    id: str = Field(description="Its identity.")
    title: str = Field(description="What it is called: given, or the beginning of its first message.")
    created: float = Field(description="When it was begun, in seconds since 1970 (UTC).")
    updated: float = Field(description="When it was last written to, in seconds since 1970 (UTC).")


class SessionsReply(ReplyModel):
    """Sessions of the caller's."""

    sessions: list[SessionReply] = Field(description="The sessions, last written first.")
    next_offset: int | None = Field(description="Where the next page begins; null on the last page.")


class EarlierReply(ReplyModel):
    """A text a message had before."""

    text: str = Field(description="The text.")
    reason: str = Field(description="Why it was replaced: regenerated, edited, closed, process_ended, or an error.")
    created: float = Field(description="When it was begun, in seconds since 1970 (UTC).")


class StoredMessageReply(ReplyModel):
    """A message of a session."""

    id: str = Field(description="Its identity.")
    turn: str = Field(description="The identity of the user's message that began its turn.")
    role: Literal["system", "user", "assistant", "tool"] = Field(description="Who speaks.")
    content: str = Field(description="What was said.")
    status: Literal["complete", "partial", "interrupted"] = Field(
        description="partial while it is being written, or waits for its turn; interrupted if it ended before it was "
        "whole, or before its turn."
    )
    reason: str = Field(description="Why it was interrupted.")
    reasoning: str = Field(description="The model's reasoning; never part of the answer.")
    created: float = Field(description="When it was begun, in seconds since 1970 (UTC).")
    outcome: str | None = Field(description="How an answer came out.")
    searched_with: str | None = Field(description="What was searched for.")
    hits: list[HitReply] = Field(description="What an answer was made from.")
    citations: list[CitationReply] = Field(description="An answer's sentences tied to their hits.")
    earlier: list[EarlierReply] = Field(description="Texts it had before, oldest first.")


class SessionDetailReply(SessionReply):
    """A session with its messages."""

    answer_id: str | None = Field(description="The answer under way, to be listened to or stopped; null if none is.")
    messages: list[StoredMessageReply] = Field(description="Its messages, oldest first.")


class SessionAnswerReply(AnswerReply):
    """An answer to a session's message."""

    session_id: str = Field(description="The session.")
    message_id: str = Field(description="The identity of the person's message.")
    reply_id: str = Field(description="The identity of the answer as a message.")


class DeletedReply(ReplyModel):
    """What was removed."""

    id: str = Field(description="Its identity.")
    deleted: Literal[True] = Field(description="Always true.")
