"""What a client may ask. Every text and list is bounded; unknown fields are refused."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from responsa.prompts.style import MAX_INSTRUCTIONS
from responsa.response_synthesizers.question import MAX_QUESTION_CHARACTERS
from responsa.response_synthesizers.type import ResponseMode
from responsa.retrieval.readers.entry_extra import is_deeper

MAX_TOP_K: Final = 100
DEFAULT_TOP_K: Final = 8
MAX_METADATA_LEVELS: Final = 32

Question = Annotated[
    str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS, description="The question, as the person asked it.")
]
IndexName = Annotated[
    str | None, Field(max_length=64, description="The index to search; the service's first one when left out.")
]
TopK = Annotated[int, Field(ge=1, le=MAX_TOP_K, description="The most passages the answer is made from.")]


class RequestModel(BaseModel):
    """A request's body; a field it does not have is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PassageIn(RequestModel):
    """A passage given by the caller instead of being searched for."""

    text: str = Field(min_length=1, max_length=400_000, description="The passage.")
    id: str | None = Field(None, min_length=1, max_length=256, description="Its identity, given back with the hit.")
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        max_length=64,
        description="What is known of it: url, title, category, question, answer, full_answer, summary, date, "
        "extra (an object), or anything else. The model is shown title, category and date; of a passage with a "
        "question, that too.",
    )
    score: float | None = Field(None, allow_inf_nan=False, description="How well it matched.")

    @field_validator("metadata")
    @classmethod
    def _can_be_given_back(cls, value: dict[str, Any]) -> dict[str, Any]:
        if is_deeper(value, MAX_METADATA_LEVELS):
            raise ValueError(f"more than {MAX_METADATA_LEVELS} levels deep")
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("holds half a character") from None
        return value


class AnswerOptions(RequestModel):
    """How the answer is to be written."""

    audience: Literal["general", "expert"] | None = Field(default=None, description="Whom it is for.")
    length: Literal["brief", "detailed"] | None = Field(default=None, description="How long it is to be.")
    instructions: str = Field(
        default="",
        max_length=MAX_INSTRUCTIONS,
        description="The reader's own wishes; they change how it is written, not what it rests on.",
    )


class AnsweringRequest(RequestModel):
    """What a question is answered from, and how."""

    index: IndexName = None
    mode: ResponseMode = Field(ResponseMode.COMPACT, description="How the answer is made.")
    top_k: TopK = DEFAULT_TOP_K
    nodes: Annotated[
        tuple[PassageIn, ...] | None,
        Field(max_length=1000, description="The passages to answer from; nothing is searched then."),
    ] = None
    max_tokens: int | None = Field(None, ge=1, le=100_000, description="The most tokens a call may write.")
    think: bool | None = Field(
        None,
        description="Whether the model reasons before it answers, apart from the answer; null leaves it to the model.",
    )
    options: AnswerOptions = Field(default_factory=AnswerOptions, description="How the answer is to be written.")
    output_schema: dict[str, Any] | None = Field(
        None, max_length=64, description='A JSON schema ("type": "object") that the answer must follow.'
    )


class AskRequest(AnsweringRequest):
    """A question, what it is answered from, and how."""

    question: Question


class AnswerRequest(AskRequest):
    """A question to be answered."""

    stream: bool = Field(False, description="Whether to send events as they happen, instead of one JSON document.")
    include_prompts: bool = Field(False, description="Whether the trace holds each call's messages.")


class SearchRequest(RequestModel):
    """What to search for."""

    question: Question
    index: IndexName = None
    top_k: TopK = DEFAULT_TOP_K
    by: Literal["hybrid", "meaning", "words"] = Field(
        "hybrid", description="Search by meaning, by words, or by both together."
    )


class CompareRequest(AskRequest):
    """A question to be answered in several ways from the same hits."""

    modes: Annotated[
        tuple[ResponseMode, ...], Field(min_length=1, max_length=9, description="The ways, in this order.")
    ] = (ResponseMode.COMPACT, ResponseMode.REFINE, ResponseMode.TREE_SUMMARIZE)
    stream: bool = Field(False, description="Whether to send an event for each way as it begins and ends.")


class MessageIn(RequestModel):
    """A message of a conversation."""

    role: Literal["user", "assistant"] = Field(description="Who spoke.")
    content: str = Field(max_length=MAX_QUESTION_CHARACTERS, description="What was said.")


class RewriteRequest(RequestModel):
    """A follow-up message, and the conversation before it."""

    question: Question
    history: Annotated[tuple[MessageIn, ...], Field(max_length=200, description="The conversation, oldest first.")] = ()
