"""A session's chat engine: a turn as a request asks for it, rewritten, remembered and stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from responsa.chat_engine.base import BaseChatEngine, with_search
from responsa.chat_engine.small_talk import is_small_talk
from responsa.chat_engine.types import ChatMode
from responsa.memory import Memory
from responsa.memory.turns import Turn as StoredTurn
from responsa.programs import Program
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM
from responsa.schema.response import Response

from ..answering.turn import Turn


class SessionMemory(Memory):
    """A memory that knows the turn it has begun.

    Attributes:
        turn: The turn; None before it has begun.
    """

    turn: StoredTurn | None = None

    async def abegin_turn(self, message: ChatMessage) -> StoredTurn:
        self.turn = await super().abegin_turn(message)
        return self.turn


class SessionChatEngine(BaseChatEngine):
    """Answers one message of a session: a follow-up is rewritten for the one search, the person's own words answered.

    Args:
        turn: The message, what it is answered from, and how.
        memory: The session.
        llm: The model.
    """

    mode: ClassVar[ChatMode] = ChatMode.CONDENSE_PLUS_CONTEXT

    def __init__(self, turn: Turn, memory: SessionMemory, llm: LLM) -> None:
        super().__init__(llm=llm, memory=memory)
        self._turn = turn

    def answer(self, message: str, history: Sequence[ChatMessage]) -> Program[Response]:
        if self._turn.index is None:
            return (yield from self._turn.answer(message, history))
        if is_small_talk(message):
            return (yield from self.talk(message, history))
        words = yield from self.rewriter(message, None).rewrite(message, history)
        return with_search((yield from self._turn.answer(words, history)), words)
