"""What requests and replies look like; the OpenAPI document is made of these."""

from __future__ import annotations

from .replies import AnswerReply, ErrorReply, FailedReply, SearchReply, StoppedReply
from .requests import AnswerRequest, SearchRequest

__all__ = ["AnswerReply", "AnswerRequest", "ErrorReply", "FailedReply", "SearchReply", "SearchRequest", "StoppedReply"]
