"""What requests and replies on documents and jobs look like."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from responsa.retrieval.readers.entry_extra import MOST_CHARACTERS, checked_extra

from ..documents.catalog import DocumentState
from ..jobs.job import JobKind, JobState
from .replies import ErrorDetail, ReplyModel
from .requests import IndexName, RequestModel

_Long = Annotated[str | None, Field(max_length=200_000)]
_Short = Annotated[str | None, Field(max_length=4000)]


class EntryIn(RequestModel):
    """A knowledge entry: a question with its answers."""

    id: Annotated[str | None, Field(max_length=256, description="What tells it from others; else its question.")] = None
    question: Annotated[_Short, Field(description="The question.")] = None
    answer: Annotated[_Long, Field(description="The short answer.")] = None
    full_answer: Annotated[_Long, Field(description="The whole answer, in Markdown.")] = None
    summary: Annotated[_Long, Field(description="What it is about.")] = None
    url: Annotated[_Short, Field(description="Where it comes from.")] = None
    title: Annotated[_Short, Field(description="What its source is called.")] = None
    category: Annotated[_Short, Field(description="Its category.")] = None
    product: Annotated[_Short, Field(description="The product it is about.")] = None
    date: Annotated[_Short, Field(description="When it was written.")] = None
    extra: dict[str, Any] | None = Field(
        None,
        description=f"Anything else, an object of at most {MOST_CHARACTERS} characters as JSON: given back with the "
        "hit, never searched or shown to the model.",
    )

    @field_validator("extra")
    @classmethod
    def _is_bounded(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if value is None else checked_extra(value)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not any(text and text.strip() for text in (self.question, self.answer, self.full_answer)):
            raise ValueError("a question or an answer is needed")
        return self


class EntriesRequest(RequestModel):
    """A set of knowledge entries."""

    index: IndexName = None
    name: str = Field(min_length=1, max_length=200, description="What the set is called; sent again it is replaced.")
    entries: Annotated[tuple[EntryIn, ...], Field(min_length=1, max_length=10_000, description="The entries.")]


class DocumentReply(ReplyModel):
    """A document."""

    id: str = Field(description="Its identity.")
    index: str = Field(description="The index it is in.")
    name: str = Field(description="What its sender calls it.")
    media_type: str = Field(description="What it is, by its content.")
    n_bytes: int = Field(description="How large it is.")
    sha256: str = Field(description="The hash of its content.")
    state: DocumentState = Field(description="Whether its content is in the index.")
    parts: int = Field(description="How many documents it gave: pages, entries, or itself.")
    created: float = Field(description="When it was first sent, in seconds since 1970 (UTC).")
    updated: float = Field(description="When it was last sent or indexed, in seconds since 1970 (UTC).")


class DocumentsReply(ReplyModel):
    """Documents of an index."""

    documents: list[DocumentReply] = Field(description="The documents, by name.")
    next_offset: int | None = Field(description="Where the next page begins; null on the last page.")


class SkippedReply(ReplyModel):
    """A document that could not be read."""

    document_id: str = Field(description="Its identity.")
    name: str = Field(description="What its sender calls it.")
    error: ErrorDetail


class JobReply(ReplyModel):
    """Work that goes on after its request."""

    id: str = Field(description="Its identity.")
    kind: JobKind = Field(description="What is done.")
    state: JobState = Field(description="How far it is; interrupted if the service ended before it: run it again.")
    index: str = Field(description="The index.")
    documents: list[str] = Field(description="The documents' identities; empty where it is all of the index.")
    files_done: int = Field(description="How many of them were gone through.")
    files_total: int = Field(description="How many there are.")
    passages: int = Field(description="Passages stored.")
    embedded: int = Field(
        description="Passages embedded; those of a page, an entry or a whole text are stored together."
    )
    skipped: list[SkippedReply] = Field(description="What could not be read.")
    error: ErrorDetail | None = Field(description="What it failed with.")
    attempts: int = Field(description="How often it was begun.")
    created: float = Field(description="When it was asked for, in seconds since 1970 (UTC).")
    started: float | None = Field(description="When it was last begun.")
    ended: float | None = Field(description="When it ended.")


class JobsReply(ReplyModel):
    """Jobs."""

    jobs: list[JobReply] = Field(description="The jobs, newest first.")
    next_offset: int | None = Field(description="Where the next page begins; null on the last page.")


class RefusedReply(ReplyModel):
    """A file that was not taken."""

    name: str = Field(description="What its sender calls it.")
    reason: str = Field(description="A stable name, such as encrypted.")
    message: str = Field(description="The sentence.")


class TakenReply(ReplyModel):
    """What was taken in, and the job that indexes it."""

    job: JobReply
    documents: list[DocumentReply] = Field(description="What was taken.")
    refused: list[RefusedReply] = Field(description="What was not.")


UPLOAD_BODY: dict[str, Any] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["files"],
                "properties": {
                    "files": {
                        "type": "array",
                        "items": {"type": "string", "format": "binary"},
                        "description": "The files: Markdown, text, HTML, PDF, DOCX, knowledge entries in JSON lines.",
                    },
                    "index": {"type": "string", "description": "The index; the first one when left out."},
                },
            }
        }
    },
}
