"""What is changed of a stored conversation before a message of it is answered anew. Each step leaves it whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from responsa.schema.errors import InvalidRequest
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import StoredMessage

REGENERATED: Final = "regenerated"
EDITED: Final = "edited"


async def edited(store: ChatStore, session_key: str, message_id: str, text: str) -> None:
    """Put another text in the place of a user's message, and remove what followed it.

    The text it had is kept with it.

    Raises:
        InvalidRequest: It is not a user's message.
        MessageNotFound: It is there no more.
    """
    message = next((one for one in await store.alist_messages(session_key) if one.id == message_id), None)
    if message is not None and message.role is not MessageRole.USER:
        raise InvalidRequest(("message_id: not a user's message",))
    await store.atruncate_after(session_key, message_id)
    if message is not None and message.content != text:
        extra = {**message.extra, "earlier": [*message.extra.get("earlier", ()), _kept(message, EDITED)]}
        await store.areplace_message(
            session_key,
            replace(message, message=ChatMessage(MessageRole.USER, text), status="complete", writer="", extra=extra),
        )


async def reopened(store: ChatStore, session_key: str, answer: StoredMessage) -> None:
    """Mark an answer as one that is to be written anew, and remove what followed it.

    The same question asked again goes on with it then, and keeps the text it had.

    Raises:
        MessageNotFound: It is there no more.
    """
    await store.atruncate_after(session_key, answer.id)
    if answer.status == "complete":
        broken = replace(answer, status="interrupted", reason=REGENERATED)
        await store.areplace_message(session_key, broken, expected="complete")


def _kept(message: StoredMessage, reason: str) -> dict[str, object]:
    return {"text": message.content, "reason": reason, "created": message.created}
