"""The turns of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from .messages import MessageRole


class Said(Protocol):
    """A message of any kind."""

    @property
    def role(self) -> MessageRole:
        """Who speaks."""


M = TypeVar("M", bound=Said)


def turns_of(messages: Iterable[M]) -> list[list[M]]:
    """Return a conversation by turns: a user's message begins one; what stands before the first is one too."""
    turns: list[list[M]] = []
    for message in messages:
        if message.role is MessageRole.USER or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns
