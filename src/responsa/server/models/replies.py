"""What the service replies. The replies themselves are made by `answering`; a test holds them to these."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class ReplyModel(BaseModel):
    """A part of a reply."""

    model_config = ConfigDict(extra="forbid")


class ErrorDetail(ReplyModel):
    """What went wrong."""

    code: str = Field(description="A stable name for programs, such as server_unreachable.")
    message: str = Field(description="What happened and what to do, in the language of Accept-Language (en, zh).")
    details: dict[str, Any] = Field(description="The error's numbers and names.")


class ErrorReply(ReplyModel):
    """Every failure has this shape."""

    error: ErrorDetail


class TextSpan(ReplyModel):
    """A piece of a text, in characters."""

    start: int = Field(description="Where it starts.")
    end: int = Field(description="Where it ends, exclusive.")


class CitationReply(ReplyModel):
    """A sentence of the answer tied to a piece of a hit."""

    number: int = Field(description="The hit's number, as in the answer's [n].")
    id: str = Field(description="The hit's identity; empty if there is no hit of that number.")
    origin: Literal["model", "engine"] = Field(
        description="Whether the model wrote the marker, or the engine attached it for its support."
    )
    sentence: TextSpan = Field(description="Where the sentence stands in the answer.")
    quote: TextSpan = Field(description="Where its support stands in the hit's text.")
    quoted: str = Field(description="The text there.")
    support: float = Field(description="How much of the sentence the quoted text holds, from 0 to 1.")
    known: bool = Field(description="Whether the model was shown a hit of that number.")


class HitReply(ReplyModel):
    """A passage that was found, or given."""

    number: int = Field(description="Its number, from 1; the answer cites it as [n].")
    id: str = Field(description="Its identity.")
    document_id: str | None = Field(description="The identity of its document.")
    text: str = Field(description="The passage.")
    score: float | None = Field(description="How well it matched; comparable within one reply only.")
    title: str | None = Field(description="Its document's title.")
    url: str | None = Field(description="Its document's address, if it is http or https.")
    category: str | None = Field(description="Its category.")
    question: str | None = Field(description="The question of a knowledge entry.")
    answer: str | None = Field(description="The short answer of a knowledge entry.")
    full_answer: str | None = Field(description="The long answer of a knowledge entry.")
    summary: str | None = Field(description="The summary of a knowledge entry.")
    date: str | None = Field(description="Its date, as its source has it.")
    extra: dict[str, Any] | None = Field(description="What a knowledge entry holds besides.")
    page: int | None = Field(description="The page it begins on, from 1.")
    metadata: dict[str, Any] = Field(description="What else is known of it.")
    shown: Literal["whole", "cut", "not"] = Field(description="How much of it the model was shown.")
    cited: bool = Field(description="Whether the answer cites it.")
    spans: list[CitationReply] = Field(description="The sentences of the answer that cite it.")


class WarningReply(ReplyModel):
    """Something the reader should know."""

    code: str = Field(description="A stable name, such as answer_cut.")
    message: str = Field(description="The sentence.")
    details: dict[str, Any] = Field(description="Its numbers and names.")


class UsageReply(ReplyModel):
    """Tokens as the model server counted them; null where it did not."""

    prompt_tokens: int | None = Field(description="Tokens of the prompts, cached ones included.")
    completion_tokens: int | None = Field(description="Tokens generated.")
    cached_tokens: int | None = Field(description="Prompt tokens the server took from its cache.")


class TimingsReply(ReplyModel):
    """How long a call took, in seconds."""

    first_token: float | None = Field(description="From sending the request to the first piece.")
    total: float | None = Field(description="From sending the request to its end.")
    server_prompt: float | None = Field(description="The server's time for reading the prompt.")
    server_predicted: float | None = Field(description="The server's time for generating.")
    sent_at: float | None = Field(description="When the request was sent, in seconds since 1970.")


class MessageReply(ReplyModel):
    """A message of a prompt."""

    role: str = Field(description="Who speaks.")
    content: str = Field(description="What is said.")


class CallReply(ReplyModel):
    """One call of the model."""

    call: int = Field(description="Its number, from 0.")
    stage: str = Field(description="What it was for: answer, refine, summarize, condense, ...")
    prompt_tokens: int | None = Field(description="The measured length of its prompt.")
    max_tokens: int | None = Field(description="The most tokens it could write.")
    hits: list[int] = Field(description="The numbers of the hits it showed.")
    finish_reason: str | None = Field(description="Why it ended: stop, length, ...")
    usage: UsageReply | None = Field(description="Its tokens.")
    timings: TimingsReply | None = Field(description="Its times.")
    error: ErrorDetail | None = Field(description="What it failed with, if it did.")
    messages: list[MessageReply] | None = Field(description="What the model was sent, where asked for.")


class ItemReply(ReplyModel):
    """One of several independent answers (the accumulate modes)."""

    number: int = Field(description="Its number, from 1.")
    answer: str = Field(description="The answer.")
    value: Any = Field(description="The object, where a schema was given.")
    hits: list[int] = Field(description="The numbers of the hits it was made from.")
    error: ErrorDetail | None = Field(description="What it failed with, if it did.")


class AnswerReply(ReplyModel):
    """An answer and what it rests on."""

    answer_id: str = Field(description="The answer's identity.")
    outcome: Literal["answered", "no_sources", "refused", "step_failed"] = Field(
        description="How it came out: refused is the model saying that the hits hold no answer; step_failed is an "
        "answer reached before a later step failed."
    )
    question: str = Field(description="The question as it was asked.")
    searched_with: str | None = Field(description="What was searched for, where it was not the question itself.")
    mode: str = Field(description="How the answer was made.")
    language: str = Field(description="The language of prompts and fixed sentences.")
    answer: str = Field(description="The answer; empty where there is none.")
    placeholder: str = Field(description="What to show in place of an empty answer.")
    grounded: bool = Field(description="Whether the answer was written from the hits.")
    reasoning: str = Field(description="The model's reasoning; never part of the answer.")
    value: Any = Field(description="The answer as an object, where a schema was given.")
    items: list[ItemReply] = Field(description="The independent answers of the accumulate modes.")
    hits: list[HitReply] = Field(description="What the answer was made from, best first.")
    related: list[HitReply] = Field(description="Further hits, which the model was not shown.")
    citations: list[CitationReply] = Field(description="The answer's sentences tied to their hits, in order.")
    warnings: list[WarningReply] = Field(description="What the reader should know.")
    usage: UsageReply = Field(description="The tokens of all calls together.")
    trace: list[CallReply] = Field(description="Every call of the model.")
    seconds: float = Field(description="How long it took, from the request's turn to its end.")


class FailedReply(ReplyModel):
    """What a streamed answer that failed ends with."""

    answer_id: str = Field(description="The answer's identity.")
    outcome: Literal["failed", "stopped", "interrupted"] = Field(
        description="Whether it failed, was stopped, or was interrupted by the end of the service."
    )
    error: ErrorDetail


class StoppedReply(ReplyModel):
    """What came of stopping an answer."""

    answer_id: str = Field(description="The answer's identity.")
    state: Literal["done", "failed", "stopped"] = Field(description="How it ended; done if it had ended before.")


class SearchReply(ReplyModel):
    """What a search found."""

    hits: list[HitReply] = Field(description="The hits, best first.")
    seconds: float = Field(description="How long it took.")


class PlannedCallReply(ReplyModel):
    """A call that will be made."""

    stage: str = Field(description="What it is for.")
    prompt_tokens: int = Field(description="Its prompt's length; the most it can have where it holds an answer.")
    max_tokens: int = Field(description="The most tokens it may write.")
    hits: list[int] = Field(description="The numbers of the hits it shows.")
    wave: int = Field(description="Calls of the same number may run together.")


class PlanDetail(ReplyModel):
    """The calls of an answer, known before any model is asked."""

    exact: bool = Field(description="Whether exactly these calls will be made; else they are the most.")
    prompt_tokens: int = Field(description="The prompts' tokens together.")
    max_tokens: int = Field(description="The most tokens that may be written together.")
    seconds: float | None = Field(
        description="The most seconds until the end, by the model server's speed as last seen; null before it was."
    )
    seconds_to_first_word: float | None = Field(description="The most seconds until the first word, by the same speed.")
    calls: list[PlannedCallReply] = Field(description="The calls, in order.")


class PlanReply(ReplyModel):
    """What an answer would take."""

    question: str = Field(description="The question.")
    mode: str = Field(description="How the answer would be made.")
    plan: PlanDetail
    hits: list[HitReply] = Field(description="What it would be made from, with how much of each would be shown.")
    related: list[HitReply] = Field(description="Further hits.")


class ModeReply(ReplyModel):
    """One way of answering, beside others."""

    mode: str = Field(description="The way.")
    outcome: Literal["answered", "no_sources", "refused", "step_failed", "failed"] = Field(
        description="How it came out."
    )
    answer: str = Field(description="The answer.")
    items: list[ItemReply] = Field(description="The independent answers of the accumulate modes.")
    value: Any = Field(description="The object, where a schema was given.")
    citations: list[CitationReply] = Field(description="The answer's sentences tied to their hits.")
    calls: int = Field(description="How many calls it took.")
    usage: UsageReply = Field(description="Their tokens.")
    seconds: float = Field(description="How long it took.")
    first_text_seconds: float | None = Field(description="How long until the first words of the answer.")
    warnings: list[WarningReply] = Field(description="What the reader should know.")
    error: ErrorDetail | None = Field(description="What it failed with, if it did.")


class CompareReply(ReplyModel):
    """The same question answered in several ways."""

    answer_id: str = Field(description="The comparison's identity.")
    outcome: Literal["answered"] = Field(description="Always answered; each way has its own outcome.")
    question: str = Field(description="The question.")
    hits: list[HitReply] = Field(
        description="What all answers were made from; `shown` is that of the way that showed most."
    )
    modes: list[ModeReply] = Field(description="The ways, in the order asked for.")


class RewriteReply(ReplyModel):
    """What to search for."""

    answer_id: str = Field(description="The rewriting's identity.")
    outcome: Literal["answered"] = Field(description="Always answered.")
    question: str = Field(description="The message as it was written.")
    rewritten: str = Field(description="What to search for; the message itself where nothing had to be rewritten.")
    changed: bool = Field(description="Whether it is another text than the message.")
    warnings: list[WarningReply] = Field(description="Why a rewriting was not used, if so.")


class CheckReply(ReplyModel):
    """Whether one part can be used."""

    name: str = Field(
        description="model, embeddings, sessions, records (feedback, documents and jobs), or index: and its name."
    )
    ready: bool = Field(description="Whether it can be used.")
    reason: str = Field(description="Why not; empty if it can.")


class ReadyReply(ReplyModel):
    """Whether the service can answer."""

    ready: bool = Field(description="Whether every part can be used.")
    checks: list[CheckReply] = Field(description="Its parts.")
