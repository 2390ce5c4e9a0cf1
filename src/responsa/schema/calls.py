"""One call of a model, as a program asks for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .completions import Completion, Sampling
from .messages import ChatMessage
from .spans import Span


@dataclass(frozen=True, slots=True)
class LLMCall:
    """A question to the model, final: measured, and never templated again.

    Args:
        stage: What the call is for: "answer", "refine", "summarize", "condense", ...
        messages: What the model is sent.
        sampling: How the answer is generated.
        spans: Which characters of which passages stand in the messages.
        visible: Whether its text is the user's answer or a draft of it.
        draft: Whether a later call may replace its text.
        hold_back: Told the text so far and whether it has ended, says whether it must not be shown (yet): a refusal
            is not, where an answer is there already.
        item: Which of several independent answers it is, from 0; None where there is one.
        marked_reasoning: Whether the model was asked to reason first, between the markers that `programs` knows.
        prompt_tokens: The measured length of the messages, in tokens.
        most_prompt_tokens: The most they can have, whatever was answered before; None where that is what was measured.
    """

    stage: str
    messages: tuple[ChatMessage, ...]
    sampling: Sampling = Sampling()
    spans: tuple[Span, ...] = ()
    visible: bool = True
    draft: bool = False
    hold_back: Callable[[str, bool], bool] | None = field(default=None, compare=False, repr=False)
    item: int | None = None
    prompt_tokens: int | None = None
    most_prompt_tokens: int | None = None
    marked_reasoning: bool = False


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A call and what came of it: a completion, or the error it failed with."""

    number: int
    call: LLMCall
    completion: Completion | None = None
    error: Exception | None = None
