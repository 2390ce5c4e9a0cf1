"""What an examination of a chat server saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .connection import ServerSeen
from .probing import StreamSeen, Tried

# The object a model is asked for. No sentence about the sea is one by chance.
COLOURS: Final = ("red", "green")
SCHEMA: Final[Mapping[str, Any]] = {
    "title": "choice",
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": list(COLOURS)}},
    "required": ["colour"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class RolesSeen:
    """How a chat template takes the roles of messages.

    Args:
        refused: Roles it refuses.
        lost: Roles whose messages are not in the prompt it makes.
        message: What the server said of a refusal.
    """

    refused: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    message: str = ""


@dataclass(slots=True)
class ChatSeen:
    """What a chat server answered; None where it was not asked.

    Args:
        server: What it said of itself.
        window: The configured window, in tokens, or None.
        is_chat_model: Whether it is asked with messages.
        template: The text of its chat template.
        roles: How that takes the roles of messages.
        answer: A streamed answer of some length.
        again: The answer to another question after the same beginning.
        schema: The answer to a question with a schema that no plain answer follows.
        echo: What the model writes when messages are sent as one plain text.
    """

    server: ServerSeen
    window: int | None = None
    is_chat_model: bool = True
    template: Tried[str] = None
    roles: Tried[RolesSeen] = None
    answer: Tried[StreamSeen] = None
    again: Tried[StreamSeen] = None
    schema: Tried[StreamSeen] = None
    echo: Tried[StreamSeen] = None

    @property
    def refused_roles(self) -> tuple[str, ...]:
        """The roles the chat template refuses."""
        return self.roles.refused if isinstance(self.roles, RolesSeen) else ()
