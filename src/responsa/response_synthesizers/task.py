"""What a synthesis mode is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from responsa.packing.fitting import Messages
from responsa.packing.passages import EMPTY, Pack, Passage
from responsa.prompts import BasePromptTemplate, DefaultPrompts
from responsa.schema.completions import Sampling
from responsa.schema.errors import InvalidOption
from responsa.schema.messages import ChatMessage, ContentBlock, MessageRole, TextBlock
from responsa.schema.protocols import LLM
from responsa.schema.response import AnswerItem


@dataclass(frozen=True, slots=True)
class Task:
    """A question and the passages to answer it from.

    Args:
        query_str: The question.
        passages: The passages, numbered from 1; empty ones are left out already.
        prompts: The default templates in the question's language.
        sampling: How answers are generated, as far as the caller says.
        variables: Further template variables.
        llm: The LLM, for templates that depend on it.
        history: The conversation before the question; its system messages join the template's.
        closing: What ends the last user message of every prompt: how the answer is to be written.
        marked_reasoning: Whether that asks the model to reason first, between markers.
    """

    query_str: str
    passages: tuple[Passage, ...]
    prompts: DefaultPrompts
    sampling: Sampling = field(default_factory=Sampling)
    variables: Mapping[str, Any] = field(default_factory=dict)
    llm: LLM | None = None
    history: tuple[ChatMessage, ...] = ()
    closing: str = ""
    marked_reasoning: bool = False

    def messages(self, template: BasePromptTemplate, pack: Pack = EMPTY, **values: str) -> Messages:
        """Fill a template with the question, a pack, the caller's variables and `values`.

        The pack stands for both `context_str` and `context_msg`, and for `context_messages` in its blocks. Where the
        template does not show those, the pack's pictures join the last user message.
        """
        context = pack.render()
        blocks = ContextMessages(pack)
        messages = template.format_messages(
            self.llm,
            query_str=self.query_str,
            context_str=context,
            context_msg=context,
            context_messages=blocks,
            **{**self.variables, **values},
        )
        if self.history:
            messages = _with_history(messages, self.history)
        if self.closing:
            messages = _with_blocks(messages, (TextBlock(f"\n{self.closing}"),))
        media = () if blocks.shown else pack.media
        return tuple(_with_blocks(messages, media) if media else messages)


RESERVED_VARIABLES: Final = frozenset(["query_str", "context_str", "context_msg", "context_messages", "llm"])
"""Names that a mode fills in, which a caller's own variables cannot have."""


class ContextMessages:
    """A pack as messages of text and pictures, for templates that go through its blocks; notes whether one did."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self.shown = False

    def __iter__(self) -> Iterator[ChatMessage]:
        self.shown = True
        for piece in self._pack.pieces:
            media = piece.passage.media if piece.start == 0 else ()
            yield ChatMessage(MessageRole.USER, blocks=(TextBlock(piece.render()), *media))

    def __str__(self) -> str:
        return self._pack.render()


def _with_history(messages: list[ChatMessage], history: tuple[ChatMessage, ...]) -> list[ChatMessage]:
    """Return one system message of all there are, the conversation, and then the rest of the template."""
    systems = [m.content for m in (*messages, *history) if m.role is MessageRole.SYSTEM]
    head = [ChatMessage(MessageRole.SYSTEM, "\n\n".join(systems))] if systems else []
    spoken = [m for m in (*history, *messages) if m.role is not MessageRole.SYSTEM]
    return head + spoken


def _with_blocks(messages: list[ChatMessage], more: tuple[ContentBlock, ...]) -> list[ChatMessage]:
    """Return the messages with more at the end of the last one of the user."""
    last = max(n for n, message in enumerate(messages) if message.role is MessageRole.USER or n == 0)
    shown = messages[last]
    blocks = (*shown.blocks, *more)
    messages[last] = ChatMessage(shown.role, blocks=blocks, additional_kwargs=shown.additional_kwargs)
    return messages


@dataclass(frozen=True, slots=True)
class Answer:
    """What a synthesis program returns.

    Args:
        text: The answer.
        value: The object, where an output class was asked for.
        items: Independent answers, where there are several.
        error: What a step failed with, where the answer is what was reached before.
        grounded: Whether it was written from the passages.
    """

    text: str
    value: Any = None
    items: tuple[AnswerItem, ...] = ()
    error: Exception | None = None
    grounded: bool = True


_SAMPLING_KEYS = ("max_tokens", "temperature", "top_p", "seed")


def sampling_of(llm_kwargs: Mapping[str, Any] | None) -> Sampling:
    """Return the sampling of a query's `llm_kwargs`; names that are not ours go to the server as they are."""
    given = dict(llm_kwargs or {})
    known = {name: given.pop(name) for name in _SAMPLING_KEYS if name in given}
    stop: str | Sequence[str] = given.pop("stop", ())
    tokens = known.get("max_tokens")
    if tokens is not None and (not isinstance(tokens, int) or tokens < 1):
        raise InvalidOption("max_tokens", tokens, "a number of tokens from 1")
    return Sampling(**known, stop=(stop,) if isinstance(stop, str) else tuple(stop), extra=given)
