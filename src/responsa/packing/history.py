"""Fitting a conversation into a prompt: whole turns give way, from the oldest on."""

from __future__ import annotations

from collections.abc import Sequence

from responsa.programs import Program, count
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.turns import turns_of
from responsa.tokens.estimate import TOKENS_A_MESSAGE


def fit_history(history: Sequence[ChatMessage], room: int) -> Program[tuple[ChatMessage, ...]]:
    """Return the newest whole turns that fit into `room` tokens together; the system messages stay in any case."""
    pinned = [message for message in history if message.role is MessageRole.SYSTEM]
    spoken = [message for message in history if message.role is not MessageRole.SYSTEM]
    counts = yield from count([message.content for message in (*pinned, *spoken)])
    left = room - sum(counts[: len(pinned)]) - TOKENS_A_MESSAGE * len(pinned)
    lengths = iter(counts[len(pinned) :])
    turns = [(turn, sum(next(lengths) + TOKENS_A_MESSAGE for _ in turn)) for turn in turns_of(spoken)]
    kept: list[list[ChatMessage]] = []
    for turn, tokens in reversed(turns):
        if tokens > left:
            break
        kept.insert(0, turn)
        left -= tokens
    return (*pinned, *(message for turn in kept for message in turn))
