"""The turns of a conversation, and which of them fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from responsa.programs.effects import Program, count
from responsa.schema.messages import ChatMessage, ImageBlock, MessageRole
from responsa.schema.stored import StoredMessage
from responsa.schema.turns import turns_of

IMAGE_TOKENS: Final = 256  # what a picture is taken to cost, in tokens
_FIRST_CHUNK: Final = 8  # turns counted at a time; the next chunk is twice as large


@dataclass(frozen=True, slots=True)
class TurnOfTalk:
    """A question with what was answered to it; the first may have no question.

    Args:
        messages: Its messages, in order, as they are stored.
        open: Whether it is still being written, or waits to be answered.
        empty: Whether it came to nothing: it was never answered, or its answer broke off before there was any text.
    """

    messages: tuple[StoredMessage, ...]
    open: bool
    empty: bool

    @property
    def told(self) -> bool:
        """Whether it is part of what the model is sent."""
        return not (self.open or self.empty)


def pinned(messages: Sequence[StoredMessage]) -> list[StoredMessage]:
    """Return the system messages: they stay, whatever falls out."""
    return [message for message in messages if message.role is MessageRole.SYSTEM]


def turns_of_talk(messages: Sequence[StoredMessage]) -> list[TurnOfTalk]:
    """Return the other messages by turns."""
    return [
        TurnOfTalk(
            tuple(turn),
            any(message.status == "partial" for message in turn),
            any(message.status == "interrupted" and not _came_to_something(message) for message in turn),
        )
        for turn in turns_of(message for message in messages if message.role is not MessageRole.SYSTEM)
    ]


def _came_to_something(broken: StoredMessage) -> bool:
    """Tell whether a message that was interrupted says something; a question then was never answered."""
    if broken.role is MessageRole.USER:
        return False
    return bool(broken.content.strip()) or any(isinstance(block, ImageBlock) for block in broken.message.blocks)


def weigh(messages: Sequence[ChatMessage]) -> Program[list[int]]:
    """Return the tokens of each message: its text, its further fields, its pictures."""
    counts = yield from count([_text_of(message) for message in messages])
    return [
        tokens + IMAGE_TOKENS * sum(isinstance(block, ImageBlock) for block in message.blocks)
        for message, tokens in zip(messages, counts, strict=True)
    ]


def _text_of(message: ChatMessage) -> str:
    if not message.additional_kwargs:
        return message.content
    return message.content + json.dumps(message.additional_kwargs, ensure_ascii=False, default=str)


class Window:
    """Counts turns from the newest back, each once and only as far as is asked.

    Args:
        turns: The turns as the model is sent them, oldest first.
    """

    def __init__(self, turns: Sequence[Sequence[ChatMessage]]) -> None:
        self._turns = turns
        self._tokens: list[int] = []  # from the newest back
        self._chunk = _FIRST_CHUNK

    def start(self, room: int) -> Program[int]:
        """Return the position of the oldest turn from which on all fit into `room` tokens together."""
        used = 0
        for back in range(len(self._turns)):
            used += yield from self.tokens(back)
            if used > room:
                return len(self._turns) - back
        return 0

    def tokens(self, back: int) -> Program[int]:
        """Return the tokens of one turn, the newest being 0."""
        while back >= len(self._tokens):
            end = len(self._turns) - len(self._tokens)
            chunk = self._turns[max(end - self._chunk, 0) : end]
            self._chunk *= 2
            weights = iter((yield from weigh([message for turn in chunk for message in turn])))
            sums = [sum(next(weights) for _ in turn) for turn in chunk]
            self._tokens += reversed(sums)
        return self._tokens[back]
