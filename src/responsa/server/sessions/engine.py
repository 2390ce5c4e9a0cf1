"""A session's chat engine: a turn as a request asks for it, rewritten, remembered and stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from typing import ClassVar

from responsa.chat_engine.base import BaseChatEngine, with_search
from responsa.chat_engine.small_talk import is_small_talk
from responsa.chat_engine.types import ChatMode
from responsa.memory import Memory
from responsa.memory.queued import QueuedMessage
from responsa.memory.turns import Turn as StoredTurn
from responsa.programs import Program, arun
from responsa.schema.errors import ChatStoreFault
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.protocols import LLM
from responsa.schema.response import Response

from ..answering.turn import Turn


class SessionMemory(Memory):
    """A memory that knows the one turn it begins.

    Attributes:
        turn: The turn; None before it has begun.
        on_begun: Called once it has, with its message stored.
    """

    turn: StoredTurn | None = None
    on_begun: Callable[[], None] | None = None
    _queued: QueuedMessage | None = None

    async def aqueue(self, message: str) -> None:
        """Store a message now whose turn is to come."""
        self._queued = await arun(self.queue_message(ChatMessage(MessageRole.USER, message)))

    async def abegin_turn(self, message: ChatMessage) -> StoredTurn:
        self.turn = await arun(self.open_turn(message, self._queued))
        if self.on_begun is not None:
            self.on_begun()
        return self.turn

    @asynccontextmanager
    async def after(self, place: AbstractAsyncContextManager[None]) -> AsyncIterator[None]:
        """Wait for the turn's place in the session's line; a message whose turn never comes is left as interrupted."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._give_up)
            await stack.enter_async_context(place)
            stack.push_async_callback(self._give_up)  # before the next in line has its turn
            yield

    async def _give_up(self) -> None:
        queued, self._queued = self._queued, None
        if queued is not None and self.turn is None:
            with suppress(ChatStoreFault):  # whoever reads it later finds that nobody waits with it
                await arun(queued.give_up())


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
