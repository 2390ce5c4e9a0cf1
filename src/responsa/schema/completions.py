"""What a model is asked with, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Sampling:
    """How one call is generated. None leaves a value to the LLM's own setting, then to the server.

    Args:
        max_tokens: The most tokens the answer may have.
        temperature: 0 is repeatable.
        top_p: The probability mass sampled from.
        stop: Texts that end the answer.
        seed: The sampler's seed.
        output_schema: A JSON schema the answer must follow.
        extra: Further fields of the request body, as the server names them.
    """

    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    output_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def bounded(self, max_tokens: int) -> Sampling:
        """Return the same with another limit of the answer's tokens."""
        # Every call takes one, and dataclasses.replace ten times as long.
        return Sampling(max_tokens, self.temperature, self.top_p, self.stop, self.seed, self.output_schema, self.extra)


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens a server counted; None where it did not say.

    Args:
        prompt_tokens: Tokens of the prompt, cached ones included.
        completion_tokens: Tokens generated.
        cached_tokens: Prompt tokens the server took from its cache.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Timings:
    """How long a call took, in seconds; `server_prompt` and `server_predicted` are the server's own figures.

    Args:
        first_token: From sending the request to the first piece of text or reasoning.
        total: From sending the request to its end.
        server_prompt: The server's time for reading the prompt.
        server_predicted: The server's time for generating.
        sent_at: When the request was sent, in seconds since 1970.
    """

    first_token: float | None = None
    total: float | None = None
    server_prompt: float | None = None
    server_predicted: float | None = None
    sent_at: float | None = None


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a streamed answer: text, or the model's reasoning, never mixed."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a streamed answer.

    Args:
        reason: Why it ended: "stop", "length", "content_filter", or None if the server did not say.
        model: The model's name as the server gives it.
    """

    reason: str | None = None
    usage: Usage = Usage()
    timings: Timings = Timings()
    model: str | None = None


StreamItem: TypeAlias = Delta | Finish


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer of a model: its stream, folded."""

    text: str
    reasoning: str = ""
    finish_reason: str | None = None
    usage: Usage = Usage()
    timings: Timings = field(default=Timings(), compare=False)
    model: str | None = None


@dataclass(frozen=True, slots=True)
class LLMMetadata:
    """What the engine must know of the model that will answer.

    Args:
        context_window: Tokens of prompt and answer together that one call may use.
        num_output: Tokens reserved for an answer when a call does not say.
        model_name: The served model's name.
        is_chat_model: Whether it takes messages; else one text prompt.
        is_function_calling_model: Whether tools may be sent.
        slots: Calls the server works on at a time.
        exact_counts: Whether token counts come from the model's own tokenizer.
        prompt_speed: Tokens of a prompt read a second, as last seen; None before.
        output_speed: Tokens written a second, as last seen; None before.
        reasons: Whether it reasons by itself before it answers, as far as is known.
        reasoning_switch: Whether its chat template can be told to (`enable_thinking`).
    """

    context_window: int
    num_output: int = 512
    model_name: str = "unknown"
    is_chat_model: bool = True
    is_function_calling_model: bool = False
    slots: int = 1
    exact_counts: bool = False
    prompt_speed: float | None = None
    output_speed: float | None = None
    reasons: bool = False
    reasoning_switch: bool = False

    def with_window(self, context_window: int, num_output: int) -> LLMMetadata:
        """Return the same with another window and reserve for an answer."""
        return replace(self, context_window=context_window, num_output=num_output)
