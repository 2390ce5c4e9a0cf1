"""What feedback looks like."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, model_validator

from .replies import ReplyModel
from .requests import RequestModel

Reason: TypeAlias = Literal["wrong", "not_in_sources", "incomplete", "outdated", "unclear", "slow", "other"]


class FeedbackRequest(RequestModel):
    """What a person says of an answer: a session's, or one of `/v1/answer`."""

    rating: Literal["up", "down"] = Field(description="Whether it helped.")
    reasons: Annotated[tuple[Reason, ...], Field(max_length=7, description="Why not.")] = ()
    comment: str = Field("", max_length=4000, description="In the person's own words.")
    session_id: str | None = Field(None, max_length=64, description="The session, with message_id.")
    message_id: str | None = Field(None, max_length=64, description="The answer's message in it.")
    answer_id: str | None = Field(
        None, min_length=1, max_length=64, description="The answer, where it is no session's."
    )
    question: str = Field("", max_length=32_000, description="The question, with answer_id.")
    answer: str = Field("", max_length=200_000, description="The answer as it was read, with answer_id.")

    @model_validator(mode="before")
    @classmethod
    def _names_one_answer(cls, value: Any) -> Any:
        if isinstance(value, dict):
            in_session = value.get("session_id") is not None and value.get("message_id") is not None
            if in_session == (value.get("answer_id") is not None):
                raise ValueError("either session_id and message_id, or answer_id")
        return value


class FeedbackReply(ReplyModel):
    """Feedback as it is stored."""

    id: str = Field(description="Its identity, to take it back.")
    created: float = Field(description="When it was given, in seconds since 1970 (UTC).")
    rating: Literal["up", "down"] = Field(description="Whether it helped.")
    reasons: list[Reason] = Field(description="Why not.")
    comment: str = Field(description="In the person's own words.")
    session_id: str | None = Field(description="The session.")
    message_id: str | None = Field(description="The answer's message in it.")
    answer_id: str | None = Field(description="The answer, where it is no session's.")
    question: str = Field(description="The question.")
    answer: str = Field(description="The answer.")


class FeedbackListReply(ReplyModel):
    """Feedback, newest first."""

    feedback: list[FeedbackReply] = Field(description="The feedback.")
    next_offset: int | None = Field(description="Where the next page begins; null on the last page.")
