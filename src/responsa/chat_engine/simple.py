"""Simple chat: the conversation and the model, no search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, Unpack

from responsa.programs import Program
from responsa.schema.messages import ChatMessage
from responsa.schema.response import Response

from .base import BaseChatEngine
from .options import ChatOptions, known
from .types import ChatMode


class SimpleChatEngine(BaseChatEngine):
    """Answer from the conversation alone: one call a message."""

    mode: ClassVar[ChatMode] = ChatMode.SIMPLE

    @classmethod
    def from_defaults(cls, **options: Unpack[ChatOptions]) -> Self:
        """Return the engine; see `BaseChatEngine` for its keywords."""
        return cls(**known(cls, options))

    def answer(self, message: str, history: Sequence[ChatMessage]) -> Program[Response]:
        return self.talk(message, history)
