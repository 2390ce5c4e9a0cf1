"""The events of a session's message: those of an answer, with where they are stored."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, ClassVar

from responsa.schema.events import Done, Event

from ..answering.turn import Turn
from ..answering.writer import AnswerWriter, Written
from ..runs.run import DONE
from .engine import SessionChatEngine, SessionMemory


@dataclass(frozen=True, slots=True)
class MessageStored:
    """The message is stored, and its answer begun."""

    type: ClassVar[str] = "message_stored"
    message_id: str
    reply_id: str


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """A message of a session to be answered.

    Args:
        question: The message.
        engine: Answers it.
        memory: The session, as the engine has it.
        prepare: What is changed of the session before.
        check: Fails where what was stored is lost.
    """

    question: str
    engine: SessionChatEngine
    memory: SessionMemory
    prepare: Callable[[], Awaitable[None]]
    check: Callable[[], Awaitable[object]]

    async def events(self) -> AsyncGenerator[Any, None]:
        """Answer the message and yield what happens."""
        await self.prepare()
        told = False
        async with aclosing(self.engine.astream_events(self.question)) as events:
            async for event in events:
                if not told and self.memory.turn is not None:
                    told = True
                    yield MessageStored(self.memory.turn.user.id, self.memory.turn.answer.id)
                if isinstance(event, Done):
                    await self.check()  # before it is told that all is well
                yield event


class SessionWriter(AnswerWriter):
    """Writes the events of a session's message.

    Args:
        answer_id: The answer's identity, as a run.
        session_id: The session.
        turn: The turn.
        language: The language of messages.
        prompts: Whether the trace shows each call's messages.
    """

    def __init__(self, answer_id: str, session_id: str, turn: Turn, *, language: str, prompts: bool = False) -> None:
        super().__init__(answer_id, turn, language=language, prompts=prompts)
        self._place = {"session_id": session_id, "message_id": "", "reply_id": ""}

    def write(self, event: Event | MessageStored) -> Written | None:
        """Return an event's name and its JSON in one line."""
        if isinstance(event, MessageStored):
            self._place |= {"message_id": event.message_id, "reply_id": event.reply_id}
            return event.type, json.dumps(self._place)
        written = super().write(event)
        if written is not None and written[0] == DONE:
            return DONE, f"{json.dumps(self._place)[:-1]},{written[1][1:]}"
        return written
