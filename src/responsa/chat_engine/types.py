"""The chat modes by name."""

from __future__ import annotations

from enum import StrEnum


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
