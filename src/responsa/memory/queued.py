"""Messages whose turn has not come yet: stored when they are sent, and answered in the order of their session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from responsa.programs.effects import Program
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import StoredMessage

from .store_steps import added, replaced
from .turns import CLOSED, recovered
from .writers import keep_open, new_writer


class QueuedMessage:
    """A user's message that is stored as partial, by whoever waits for its turn, and so left out of what is recalled.

    `queue_message` makes it. If its process ends before its turn, it is found as interrupted.

    Args:
        store: Where it is written.
        session_id: The session.
        stored: The message as it is stored.
    """

    def __init__(self, store: ChatStore, session_id: str, stored: StoredMessage) -> None:
        self._store = store
        self._session_id = session_id
        self._stored = stored
        keep_open(stored.writer, self)

    @property
    def id(self) -> str:
        """The message's identity."""
        return self._stored.id

    def give_up(self) -> Program[None]:
        """Mark the message as interrupted if its turn has not begun."""
        broken = replace(self._stored, status="interrupted", reason=CLOSED, writer="")
        yield from replaced(self._store, self._session_id, broken, "partial")


def queue_message(store: ChatStore, session_id: str, message: ChatMessage) -> Program[QueuedMessage | None]:
    """Store a message whose turn is to come; None where the last turn asks the same and has no whole answer yet."""
    messages = yield from recovered(store, session_id)
    if _is_last(messages, message):
        return None
    stored = StoredMessage(message, status="partial", writer=new_writer())
    queued = QueuedMessage(store, session_id, stored)
    yield from added(store, session_id, (stored,))
    return queued


def _is_last(messages: Sequence[StoredMessage], message: ChatMessage) -> bool:
    """Tell whether a message is the last question, and open."""
    if not messages:
        return False
    last = messages[-1]
    asked = last if not last.turn else next((one for one in messages if one.id == last.turn), last)
    return asked.message == message and (last is asked or last.status != "complete")
