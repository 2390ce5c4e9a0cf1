"""What blocks ask a model: about a conversation of any length, in calls that fit its window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from responsa.packing.budget import share_out
from responsa.packing.cutting import cut
from responsa.packing.passages import FENCE
from responsa.programs.effects import Program, ask, describe, measure
from responsa.schema.calls import LLMCall
from responsa.schema.completions import Completion, Sampling
from responsa.schema.errors import WindowTooSmall
from responsa.schema.messages import ChatMessage
from responsa.schema.stored import StoredMessage

_SMALLER: Final = 0.75


def transcript(messages: Sequence[StoredMessage]) -> str:
    """Return messages as one text, a paragraph each with who speaks."""
    return "\n\n".join(f"{message.role.value}: {message.content}" for message in messages)


def fenced(text: str) -> str:
    """Return a text inside a fence that it does not hold."""
    fence = FENCE
    while fence in text:
        fence += '"'
    return f"{fence}\n{text}\n{fence}"


def ask_about(
    text: str,
    build: Callable[[str], Sequence[ChatMessage]],
    stage: str,
    max_tokens: int,
    output_schema: Mapping[str, Any] | None = None,
) -> Program[tuple[Completion, str]]:
    """Ask about as much of the beginning of `text` as fits the window; return the answer and the rest of the text.

    Args:
        text: What is asked about.
        build: Makes the messages from a piece of it.
        stage: What the call is for.
        max_tokens: What the answer may have, at most a third of the window.
        output_schema: A JSON schema for the answer.

    Raises:
        WindowTooSmall: Not even a small piece fits.
    """
    window = (yield from describe()).context_window
    (fixed,) = yield from measure([tuple(build(""))])
    budget = share_out(window, fixed, min(max_tokens, max(window // 3, 1)))
    end, room = len(text), budget.room
    while True:
        messages = tuple(build(text[:end]))
        (tokens,) = yield from measure([messages])
        if tokens + budget.output <= window:
            break
        if room < 1:
            raise WindowTooSmall(window, (("a piece of the conversation", tokens), ("answer", budget.output)))
        ((_, end), _), *_ = yield from cut(text, room)
        room = int(room * _SMALLER)
    sampling = Sampling(max_tokens=budget.output, temperature=0.0, output_schema=output_schema)
    completion = yield from ask(LLMCall(stage, messages, sampling, visible=False, prompt_tokens=tokens))
    return completion, text[end:]
