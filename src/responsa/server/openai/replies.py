"""What the OpenAI-compatible face replies. The replies are made by `completion`; a test holds them to these."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from ..models.replies import CitationReply, HitReply, ItemReply, ReplyModel, WarningReply


class ModelReply(ReplyModel):
    """A model to choose."""

    id: str = Field(description="Its name: an index and a mode, such as docs/compact.")
    object: Literal["model"] = Field(description="Always model.")
    created: int = Field(description="Always 0: what it answers from is as old as its last document.")
    owned_by: Literal["responsa"] = Field(description="Always responsa.")


class ModelsReply(ReplyModel):
    """The models to choose from."""

    object: Literal["list"] = Field(description="Always list.")
    data: list[ModelReply] = Field(
        description="The models: every index with every mode, the first one's compact first."
    )


class UrlCitation(ReplyModel):
    """Where a sentence comes from."""

    start_index: int = Field(description="Where the sentence starts in the answer, in characters.")
    end_index: int = Field(description="Where it ends, exclusive.")
    url: str = Field(description="The source's address.")
    title: str = Field(description="The source's title.")


class Annotation(ReplyModel):
    """A citation of a source that has an address."""

    type: Literal["url_citation"] = Field(description="Always url_citation.")
    url_citation: UrlCitation = Field(description="The citation.")


class CompletionMessage(ReplyModel):
    """The answer as a message."""

    role: Literal["assistant"] = Field(description="Always assistant.")
    content: str = Field(description="The answer; where there is none, a sentence that says so.")
    refusal: None = Field(description="Always null; see responsa.outcome.")
    annotations: list[Annotation] = Field(description="The citations of sources that have an address.")
    reasoning_content: str | None = Field(None, description="The model's reasoning; left out where there is none.")


class Choice(ReplyModel):
    """The answer."""

    index: Literal[0] = Field(description="Always 0.")
    message: CompletionMessage = Field(description="The answer as a message.")
    finish_reason: Literal["stop", "length"] = Field(description="Whether it ended by itself, or was cut.")


class CachedTokens(ReplyModel):
    """Of the prompt's tokens."""

    cached_tokens: int = Field(description="Those the model server took from its cache.")


class CompletionUsage(ReplyModel):
    """The tokens of all calls together."""

    prompt_tokens: int = Field(description="Tokens of the prompts, cached ones included.")
    completion_tokens: int = Field(description="Tokens generated.")
    total_tokens: int = Field(description="Both together.")
    prompt_tokens_details: CachedTokens = Field(description="More of the prompts' tokens.")


class ExtensionReply(ReplyModel):
    """What OpenAI has no field for: where the answer comes from, and how it came out."""

    answer_id: str = Field(description="The answer's identity.")
    mode: str = Field(description="How the answer was made.")
    outcome: Literal["answered", "no_sources", "refused", "step_failed"] = Field(
        description="How it came out; see /v1/answer."
    )
    searched_with: str | None = Field(description="What was searched for, where it was not the question itself.")
    language: str = Field(description="The language of prompts and fixed sentences.")
    placeholder: str = Field(description="The sentence that stands in place of an empty answer.")
    grounded: bool = Field(description="Whether the answer was written from the hits.")
    value: Any = Field(description="The answer as an object, where a schema was given.")
    items: list[ItemReply] = Field(description="The independent answers of the accumulate modes.")
    hits: list[HitReply] = Field(description="What the answer was made from, best first.")
    related: list[HitReply] = Field(description="Further hits, which the model was not shown.")
    citations: list[CitationReply] = Field(description="The answer's sentences tied to their hits, in order.")
    warnings: list[WarningReply] = Field(description="What the reader should know.")


class ChatCompletionReply(ReplyModel):
    """A conversation's last message answered."""

    id: str = Field(description="The completion's identity.")
    object: Literal["chat.completion"] = Field(description="Always chat.completion.")
    created: int = Field(description="When it was begun, in seconds since 1970.")
    model: str = Field(description="The model as it was asked for.")
    choices: list[Choice] = Field(description="The answer; one alone.")
    usage: CompletionUsage = Field(description="The tokens of all calls together.")
    responsa: ExtensionReply = Field(description="What OpenAI has no field for.")


class OpenAIErrorDetail(ReplyModel):
    """What went wrong."""

    message: str = Field(description="What happened and what to do, in the language of Accept-Language (en, zh).")
    type: str = Field(
        description="invalid_request_error, authentication_error, permission_error, rate_limit_error or server_error."
    )
    param: str | None = Field(description="The field it is about.")
    code: str = Field(description="A stable name for programs: OpenAI's where it has one, else the service's own.")
    details: dict[str, Any] = Field(description="The error's numbers and names.")


class OpenAIErrorReply(ReplyModel):
    """A failure in OpenAI's shape."""

    error: OpenAIErrorDetail = Field(description="What went wrong.")
