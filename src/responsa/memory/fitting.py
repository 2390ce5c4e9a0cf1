"""Cutting messages that are too long for their room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from responsa.packing.cutting import shorten
from responsa.programs.effects import Program, warn
from responsa.schema.messages import ChatMessage, ImageBlock, TextBlock

from .window import weigh

CUT_MARK: Final = " […]"


def cut_to_fit(messages: Sequence[ChatMessage], room: int) -> Program[list[ChatMessage | None]]:
    """Return `messages` with the longest cut so that all have at most `room` tokens together.

    Each cut is a warning. A message is None where not even the mark of a cut has room.
    """
    tokens = yield from weigh(messages)
    share = _fair_share(tokens, room)
    fitted: list[ChatMessage | None] = []
    for message, weight in zip(messages, tokens, strict=True):
        if weight <= share:
            fitted.append(message)
            continue
        fitted.append((yield from cut_message(message, share)))
        yield from warn("memory_message_cut", role=message.role.value, tokens=weight, room=share)
    return fitted


def _fair_share(tokens: Sequence[int], room: int) -> int:
    """Return the most tokens each may have so that all fit, the short ones whole."""
    left = room
    for position, weight in enumerate(sorted(tokens)):
        share = left // (len(tokens) - position)
        if weight > share:
            return share
        left -= weight
    return max(tokens, default=0)


def cut_message(message: ChatMessage, room: int) -> Program[ChatMessage | None]:
    """Return a message cut to `room` tokens: pictures go first, then further fields, then the end of its text."""
    candidates = [
        ChatMessage(message.role, message.content, additional_kwargs=message.additional_kwargs),
        ChatMessage(message.role, message.content),
    ]
    if any(isinstance(block, ImageBlock) for block in message.blocks):
        tokens = yield from weigh(candidates)
    else:
        tokens = yield from weigh(candidates[1:])
        candidates = candidates[1:]
    for candidate, weight in zip(candidates, tokens, strict=True):
        if weight <= room and candidate.content:
            return candidate
    text = yield from cut_text(message.content, room)
    return None if text is None else ChatMessage(message.role, text)


def cut_text(text: str, room: int) -> Program[str | None]:
    """Return the beginning of `text` with a mark behind it, `room` tokens at most; None where there is no room."""
    allowed = room - (yield from weigh([_said(CUT_MARK)]))[0]
    while allowed >= 0:
        short = (yield from shorten(text, allowed)) + CUT_MARK
        (tokens,) = yield from weigh([_said(short)])
        if tokens <= room:
            return short
        allowed -= tokens - room
    return None


def _said(text: str) -> ChatMessage:
    return ChatMessage(blocks=(TextBlock(text),))
