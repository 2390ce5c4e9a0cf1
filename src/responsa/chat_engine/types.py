"""The chat modes by name."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from responsa.schema.errors import InvalidOption


class ChatMode(StrEnum):
    """How a message of a conversation is answered. `BEST` is another name of `CONDENSE_PLUS_CONTEXT`.

    `REACT` and `OPENAI` are names of agents that no chat engine is: asking for one is an error that says so.
    """

    SIMPLE = "simple"
    CONDENSE_QUESTION = "condense_question"
    CONTEXT = "context"
    CONDENSE_PLUS_CONTEXT = "condense_plus_context"
    REACT = "react"
    OPENAI = "openai"
    BEST = "best"


_AGENTS: Final = (ChatMode.REACT, ChatMode.OPENAI)
MODES: Final = tuple(mode for mode in ChatMode if mode not in _AGENTS)
"""The modes that are chat engines."""


def chat_mode(name: ChatMode | str) -> ChatMode:
    """Return a mode by its name.

    Raises:
        InvalidOption: There is no such mode; for "react" and "openai" it says what to use instead.
    """
    try:
        mode = ChatMode(name)
    except ValueError as error:
        raise InvalidOption("chat_mode", name, f"one of {', '.join(MODES)}") from error
    if mode in _AGENTS:
        raise InvalidOption(
            "chat_mode", mode.value, "no agent: use condense_plus_context, and an agent library for tools"
        )
    return mode
