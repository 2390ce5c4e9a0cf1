"""What a client of the OpenAI-compatible face may ask.

Clients send many fields that mean nothing here; they are passed over. What would change the answer's form and is not
done is refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from responsa.response_synthesizers.question import MAX_QUESTION_CHARACTERS

from ..models.requests import DEFAULT_TOP_K, AnswerOptions, PassageIn, RequestModel, TopK

MAX_MESSAGES: Final = 200
_INSTRUCTIONS: Final = ("system", "developer")


class CompatibleModel(BaseModel):
    """A part of a request; fields it does not have are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class TextPart(CompatibleModel):
    """A piece of a message's text."""

    type: Literal["text"] = Field(description="Text; pictures, sound and files are not taken.")
    text: str = Field(max_length=MAX_QUESTION_CHARACTERS, description="The text.")


class ChatMessageIn(CompatibleModel):
    """A message of the conversation."""

    role: Literal["user", "assistant"] = Field(description="Who spoke. Instructions are the operator's alone.")
    content: (
        Annotated[str, Field(max_length=MAX_QUESTION_CHARACTERS)]
        | Annotated[tuple[TextPart, ...], Field(max_length=64)]
        | None
    ) = Field(description="What was said, as a text or in pieces.")

    @field_validator("role", mode="before")
    @classmethod
    def _no_instructions(cls, value: Any) -> Any:
        if value in _INSTRUCTIONS:
            raise ValueError(
                f"the role {value} is not taken from clients; what the reader wishes stands in responsa.options"
            )
        return value

    @property
    def text(self) -> str:
        """The whole text."""
        if self.content is None or isinstance(self.content, str):
            return self.content or ""
        return "\n".join(part.text for part in self.content)


class StreamOptions(CompatibleModel):
    """How a stream is sent."""

    include_usage: bool | None = Field(None, description="Whether the last chunk tells the tokens used.")


class JsonSchema(CompatibleModel):
    """The form of the answer."""

    schema_: dict[str, Any] = Field(
        alias="schema", max_length=64, description='A JSON schema ("type": "object") that the answer must follow.'
    )


class ResponseFormat(CompatibleModel):
    """Whether the answer is text or an object."""

    type: Literal["text", "json_schema"] = Field(description="Text, or JSON that follows a schema.")
    json_schema: JsonSchema | None = Field(None, description="The schema, for json_schema.")


class ChatExtension(RequestModel):
    """What OpenAI has no field for."""

    nodes: Annotated[
        tuple[PassageIn, ...] | None,
        Field(max_length=1000, description="The passages to answer from; nothing is searched then."),
    ] = None
    top_k: TopK = DEFAULT_TOP_K
    options: AnswerOptions = Field(default_factory=AnswerOptions, description="How the answer is to be written.")
    think: bool | None = Field(
        default=None, description="Whether the model reasons first; null leaves it to the model."
    )
    footnotes: bool | None = Field(
        default=None,
        description="Whether a list of the cited sources stands under the answer; null leaves it to the service.",
    )


class ChatCompletionRequest(CompatibleModel):
    """A conversation whose last message is to be answered."""

    model: str = Field(min_length=1, max_length=256, description="An index and a mode, such as docs/compact.")
    messages: Annotated[tuple[ChatMessageIn, ...], Field(min_length=1, max_length=MAX_MESSAGES)] = Field(
        description="The conversation, oldest first; the last message is the user's question."
    )
    stream: bool | None = Field(None, description="Whether to send chunks as they come.")
    stream_options: StreamOptions | None = Field(None, description="How a stream is sent.")
    max_tokens: int | None = Field(None, ge=1, le=100_000, description="The most tokens a call may write.")
    max_completion_tokens: int | None = Field(None, ge=1, le=100_000, description="Another name of max_tokens.")
    temperature: float | None = Field(None, ge=0, le=2, description="How freely the model samples.")
    top_p: float | None = Field(None, ge=0, le=1, description="The probability mass sampled from.")
    seed: int | None = Field(None, ge=-(2**31), le=2**32 - 1, description="The sampler's seed.")
    stop: (
        Annotated[str, Field(max_length=256)]
        | Annotated[tuple[Annotated[str, Field(max_length=256)], ...], Field(max_length=4)]
        | None
    ) = Field(None, description="Texts that end the answer.")
    n: Literal[1] | None = Field(None, description="How many answers; one alone.")
    tools: Annotated[tuple[Any, ...], Field(max_length=0)] | None = Field(
        None, description="None: the service calls no tools."
    )
    logprobs: Literal[False] | None = Field(None, description="Not given.")
    response_format: ResponseFormat | None = Field(None, description="Whether the answer is text or an object.")
    responsa: ChatExtension = Field(default_factory=ChatExtension, description="What OpenAI has no field for.")
