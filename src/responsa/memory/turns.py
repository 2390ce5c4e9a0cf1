"""The writing of a turn: nothing that was said or delivered is lost, and nothing is written twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from responsa.programs.effects import Perform, Program, perform
from responsa.schema.errors import ChatStoreFault, InvalidOption
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import StoredMessage

from .chat_stores.serialization import plain
from .store_steps import added, listed, replaced
from .writers import is_gone, is_of_this_process, is_open, keep_open, leave, new_writer

if TYPE_CHECKING:
    from .queued import QueuedMessage

FLUSH_SECONDS: Final = 0.5  # text is delivered between flushes too: what a crash loses stays under one second
CLOSED: Final = "closed"
PROCESS_ENDED: Final = "process_ended"


class Turn:
    """A user's message and the answer that is being written to it.

    Made by `Memory.begin_turn`, which stores the message with an empty partial answer before any model is asked. The
    answer is stored for good once: by the first `finish` or `interrupt`; what comes after is ignored.

    Args:
        store: Where it is written.
        session_id: The session.
        user: The user's message as it is stored.
        answer: The answer as it was begun.
        clock: Tells the time in seconds.
    """

    def __init__(
        self,
        store: ChatStore,
        session_id: str,
        user: StoredMessage,
        answer: StoredMessage,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session_id = session_id
        self.user = user
        self.store = store
        self._answer = answer
        self._clock = clock
        self._texts: list[str] = []
        self._reasonings: list[str] = []
        self._flushed = clock()
        self._ended = False
        keep_open(answer.writer, self)

    @property
    def answer(self) -> StoredMessage:
        """The answer as it stands."""
        return self._answer if self._ended else self._as_it_stands()

    @property
    def ended(self) -> bool:
        """Whether the answer is stored for good."""
        return self._ended

    def delta(self, text: str = "", *, reasoning: str = "") -> None:
        """Take a piece that was delivered; every half second what there is so far is stored."""
        if (due := self._take(text, reasoning)) is not None:
            try:
                self.store.replace_message(self.session_id, due, expected="partial")
            except ChatStoreFault:
                return  # the next flush writes it all again, and the end raises what still fails

    async def adelta(self, text: str = "", *, reasoning: str = "") -> None:
        """Take a piece without blocking; see `delta`."""
        if (due := self._take(text, reasoning)) is not None:
            try:
                await self.store.areplace_message(self.session_id, due, expected="partial")
            except ChatStoreFault:
                return  # as in `delta`

    def replace(self, text: str) -> None:
        """Put `text` in the place of all the text so far: a draft was replaced."""
        self._texts = []
        self.delta(text)

    async def areplace(self, text: str) -> None:
        """Put `text` in the place of all the text so far, without blocking."""
        self._texts = []
        await self.adelta(text)

    def finish(
        self, text: str | None = None, reasoning: str | None = None, extra: dict[str, Any] | None = None
    ) -> None:
        """Store the whole answer.

        Args:
            text: The answer's text; what was delivered when left out.
            reasoning: The model's reasoning; what was delivered when left out.
            extra: What belongs to it besides, such as sources and citations.

        Raises:
            ChatStoreFault: It could not be stored; calling again tries again.
        """
        self._end(self._whole(text, reasoning, extra))

    async def afinish(
        self, text: str | None = None, reasoning: str | None = None, extra: dict[str, Any] | None = None
    ) -> None:
        """Store the whole answer without blocking; see `finish`."""
        await self._aend(self._whole(text, reasoning, extra))

    def interrupt(self, reason: str = CLOSED, extra: dict[str, Any] | None = None) -> None:
        """Store what was delivered so far, as interrupted.

        Args:
            reason: Why: "closed", or an error's text.
            extra: What belongs to it besides.

        Raises:
            ChatStoreFault: It could not be stored; calling again tries again.
        """
        self._end(self._broken(reason, extra))

    async def ainterrupt(self, reason: str = CLOSED, extra: dict[str, Any] | None = None) -> None:
        """Store what was delivered so far, as interrupted, without blocking; see `interrupt`."""
        await self._aend(self._broken(reason, extra))

    def abandon(self) -> None:
        """Go on with it no longer, though its end could not be stored: it is found as interrupted from now on."""
        leave(self._answer.writer)

    def _take(self, text: str, reasoning: str) -> StoredMessage | None:
        """Keep a piece; return what is to be written now, if anything is."""
        if self._ended:
            return None
        if text:
            self._texts.append(text)
        if reasoning:
            self._reasonings.append(reasoning)
        now = self._clock()
        if now - self._flushed < FLUSH_SECONDS:
            return None
        self._flushed = now
        return self._as_it_stands()

    def _as_it_stands(self) -> StoredMessage:
        return replace(
            self._answer,
            message=ChatMessage(MessageRole.ASSISTANT, "".join(self._texts)),
            reasoning="".join(self._reasonings),
        )

    def _whole(self, text: str | None, reasoning: str | None, extra: dict[str, Any] | None) -> StoredMessage:
        delivered = self._as_it_stands()
        return replace(
            delivered,
            message=delivered.message if text is None else ChatMessage(MessageRole.ASSISTANT, text),
            reasoning=delivered.reasoning if reasoning is None else reasoning,
            status="complete",
            writer="",
            extra={**delivered.extra, **plain(extra or {})},  # an odd value in it must not cost the answer
        )

    def _broken(self, reason: str, extra: dict[str, Any] | None) -> StoredMessage:
        return replace(self._whole(None, None, extra), status="interrupted", reason=reason)

    def _end(self, last: StoredMessage) -> None:
        if self._ended:
            return
        before, self._answer, self._ended = self._answer, last, True
        try:
            self.store.replace_message(self.session_id, last)
        except BaseException:  # Ctrl-C too: what is not stored has not ended
            self._answer, self._ended = before, False
            raise

    async def _aend(self, last: StoredMessage) -> None:
        if self._ended:
            return
        before, self._answer, self._ended = self._answer, last, True
        writing = asyncio.ensure_future(self.store.areplace_message(self.session_id, last))
        try:
            await asyncio.shield(writing)  # a task that is cancelled here still stores how its answer ended
        except ChatStoreFault:
            self._answer, self._ended = before, False
            raise


def open_turn(
    store: ChatStore, session_id: str, message: ChatMessage, queued: QueuedMessage | None = None
) -> Program[Turn]:
    """Store a user's message and begin its answer.

    The same message again after an answer that broke off, or that never began, is a retry: it goes on with that turn,
    and the text that had been delivered is kept in the new answer's `extra["earlier"]`.

    Args:
        store: Where it is written.
        session_id: The session.
        message: The message.
        queued: The message as it was stored before its turn came.
    """
    messages = yield from recovered(store, session_id)
    turn: Turn | None = None
    if queued is not None:
        # It may have been removed meanwhile, or changed.
        waiting = (one for one in messages if one.id == queued.id and one.status != "complete")
        if (asked := next(waiting, None)) is not None:
            turn = yield from _answering(store, session_id, asked)
    if turn is None:
        turn = yield from _retried(store, session_id, messages, message)
    if turn is None:
        user = StoredMessage(message)
        turn = Turn(store, session_id, user, _begun(user))
        yield from added(store, session_id, (user, turn.answer))
    return turn


def recovered(store: ChatStore, session_id: str) -> Program[list[StoredMessage]]:
    """Return a session's messages, those that nobody goes on with any more marked as interrupted."""
    messages = yield from listed(store, session_id)
    for position, message in enumerate(messages):
        reason = (yield from _left_because(message)) if message.status == "partial" else ""
        if reason:
            broken = replace(message, status="interrupted", reason=reason, writer="")
            if (yield from replaced(store, session_id, broken, "partial")):
                messages[position] = broken
    return messages


def _left_because(partial: StoredMessage) -> Program[str]:
    """Return why nobody goes on with a partial message; empty where somebody may."""
    if is_of_this_process(partial.writer):
        return "" if is_open(partial.writer) else CLOSED
    asked = partial.writer, partial.created, time.time()
    gone = yield from perform(Perform("writer", lambda: is_gone(*asked), lambda: asyncio.to_thread(is_gone, *asked)))
    return PROCESS_ENDED if gone else ""


def _begun(user: StoredMessage, **fields: Any) -> StoredMessage:
    return StoredMessage(
        ChatMessage(MessageRole.ASSISTANT, ""), turn=user.id, status="partial", writer=new_writer(), **fields
    )


def _retried(
    store: ChatStore, session_id: str, messages: Sequence[StoredMessage], message: ChatMessage
) -> Program[Turn | None]:
    """Go on with the last turn if it asked the same and has no whole answer; another process may be quicker."""
    if not messages:
        return None
    last = messages[-1]
    if last.message == message and last.status != "partial":
        return (yield from _answering(store, session_id, last))
    asked = next((one for one in messages if one.id == last.turn), None)
    if last.status != "interrupted" or asked is None or asked.message != message:
        return None
    turn = Turn(store, session_id, _whole(asked), _begun(asked, id=last.id, extra=_earlier(last)))
    if not (yield from replaced(store, session_id, turn.answer, "interrupted")):
        return None
    yield from _has_begun(turn, asked)
    return turn


def _answering(store: ChatStore, session_id: str, asked: StoredMessage) -> Program[Turn | None]:
    """Begin the answer to a message that has none; None where another process was quicker."""
    turn = Turn(store, session_id, _whole(asked), _begun(asked, id=f"{asked.id}.answer"))
    try:
        yield from added(store, session_id, (turn.answer,))
    except InvalidOption:
        return None
    yield from _has_begun(turn, asked)
    return turn


def _has_begun(turn: Turn, asked: StoredMessage) -> Program[None]:
    """Mark a message as one whose turn has come: only now, so that nobody recalls it without its answer."""
    if asked.status != "complete":
        yield from replaced(turn.store, turn.session_id, turn.user, asked.status)


def _whole(asked: StoredMessage) -> StoredMessage:
    return replace(asked, status="complete", reason="", writer="")


def _earlier(broken: StoredMessage) -> dict[str, Any]:
    """Keep what was delivered before a retry."""
    earlier = list(broken.extra.get("earlier", ()))
    if broken.content:
        earlier.append({"text": broken.content, "reason": broken.reason, "created": broken.created})
    return {"earlier": earlier} if earlier else {}
