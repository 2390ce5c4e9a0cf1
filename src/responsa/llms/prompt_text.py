"""Messages as one text, for models that take no messages."""

from __future__ import annotations

from collections.abc import Sequence

from ..schema.messages import ChatMessage, MessageRole


def messages_to_prompt(messages: Sequence[ChatMessage]) -> str:
    """Return the messages as one prompt that an assistant's answer continues; a lone user message stays as it is."""
    if len(messages) == 1 and messages[0].role == MessageRole.USER:
        return messages[0].content
    return "\n".join([*(f"{message.role.value}: {message.content}" for message in messages), "assistant: "])
