"""What a direct call of a model returns."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from typing import Any, TypeAlias

from ..schema.completions import Completion, Delta
from ..schema.messages import ChatMessage, MessageRole


class TextSoFar:
    """The text of a stream up to one of its pieces, joined only when it is asked for.

    Args:
        pieces: All pieces of the stream; later ones may be added.
        count: How many of them belong to this text.
    """

    __slots__ = ("_count", "_pieces")

    def __init__(self, pieces: list[str], count: int) -> None:
        self._pieces = pieces
        self._count = count

    def __str__(self) -> str:
        return "".join(self._pieces[: self._count])


class CompletionResponse:
    """The answer to a prompt, or one step of a streamed answer.

    Args:
        text: The whole text, in a stream the text so far.
        delta: In a stream, what this step adds to the text.
        additional_kwargs: Further facts; `thinking_delta` holds what a step adds to the reasoning.
        raw: The completion as the engine has it, with usage and timings; in a stream it comes with the last step.
    """

    __slots__ = ("_text", "additional_kwargs", "delta", "raw")

    def __init__(
        self,
        text: str | TextSoFar,
        delta: str | None = None,
        *,
        additional_kwargs: Mapping[str, Any] | None = None,
        raw: Completion | None = None,
    ) -> None:
        self._text = text
        self.delta = delta
        self.additional_kwargs = dict(additional_kwargs or {})
        self.raw = raw

    @property
    def text(self) -> str:
        """The whole text, in a stream the text so far."""
        return str(self._text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"CompletionResponse(text={self.text!r}, delta={self.delta!r})"


class ChatResponse:
    """The answer to messages, or one step of a streamed answer.

    Args:
        message: The assistant's message, in a stream what there is of it.
        delta: In a stream, what this step adds to the text.
        additional_kwargs: Further facts; `thinking_delta` holds what a step adds to the reasoning.
        raw: The completion as the engine has it, with usage and timings; in a stream it comes with the last step.
    """

    __slots__ = ("_message", "additional_kwargs", "delta", "raw")

    def __init__(
        self,
        message: ChatMessage | TextSoFar,
        delta: str | None = None,
        *,
        additional_kwargs: Mapping[str, Any] | None = None,
        raw: Completion | None = None,
    ) -> None:
        self._message = message
        self.delta = delta
        self.additional_kwargs = dict(additional_kwargs or {})
        self.raw = raw

    @property
    def message(self) -> ChatMessage:
        """The assistant's message, in a stream what there is of it."""
        if isinstance(self._message, TextSoFar):
            return ChatMessage(MessageRole.ASSISTANT, str(self._message))
        return self._message

    def __str__(self) -> str:
        return str(self.message)

    def __repr__(self) -> str:
        return f"ChatResponse(message={self.message!r}, delta={self.delta!r})"


CompletionResponseGen: TypeAlias = Generator[CompletionResponse, None, None]
CompletionResponseAsyncGen: TypeAlias = AsyncGenerator[CompletionResponse, None]
ChatResponseGen: TypeAlias = Generator[ChatResponse, None, None]
ChatResponseAsyncGen: TypeAlias = AsyncGenerator[ChatResponse, None]


def thinking(delta: Delta) -> dict[str, Any]:
    """Return the additional facts of a step."""
    return {"thinking_delta": delta.reasoning} if delta.reasoning else {}
