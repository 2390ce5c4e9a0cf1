"""From passages to final prompts: packed, built, measured, and packed smaller where a measured one does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from responsa.programs.effects import Program, measure
from responsa.schema.errors import WindowTooSmall
from responsa.schema.messages import ChatMessage

from .budget import MIN_ROOM, Budget
from .packer import Counted, pack
from .passages import Pack

Messages: TypeAlias = tuple[ChatMessage, ...]
Builder: TypeAlias = Callable[[Pack], Messages]
Packer: TypeAlias = Callable[[Counted, int], Program[list[Pack]]]
_ROUNDS: Final = 6


@dataclass(frozen=True, slots=True)
class Fitted:
    """Packs that fit, with the final messages of those that were measured.

    Args:
        packs: What each call is shown.
        messages: The final messages of the measured packs, from the first.
        tokens: Their lengths in tokens.
        room: What a pack could have in the end, in tokens; 0 where nothing had to be packed.
    """

    packs: list[Pack]
    messages: list[Messages]
    tokens: list[int]
    room: int = 0


def fit(
    counted: Counted,
    build: Builder,
    budget: Budget,
    *,
    packer: Packer = pack,
    measured: int | None = None,
) -> Program[Fitted]:
    """Pack passages so that each measured prompt fits the window beside the answer's reserve.

    Token counts of parts do not always add up to the count of the whole; when a measured prompt is too long, all are
    packed again with that much less room than its pack took.

    Args:
        counted: The passages to be shown.
        build: Makes the messages that show a pack.
        budget: The window's shares.
        packer: `pack`, or `pack_each` for one passage a prompt.
        measured: How many prompts to build and measure, from the first; all when left out.

    Raises:
        WindowTooSmall: The prompts do not fit even with the smallest packs.
    """
    room = budget.room
    limit = budget.window - budget.output
    excess = 0
    for _ in range(_ROUNDS):
        packs = yield from packer(counted, room)
        messages = [build(one) for one in packs[:measured]]
        tokens = yield from measure(messages)
        excess = max(tokens, default=0) - limit
        if excess <= 0:
            return Fitted(packs, messages, tokens, room)
        longest = packs[tokens.index(max(tokens))]
        room = max(min(room, longest.tokens) - excess - 1, min(MIN_ROOM // 2, room - 1))
        if room < 1:
            break
    table = (("fixed messages", budget.fixed), ("answer", budget.output), ("context", budget.room), ("excess", excess))
    raise WindowTooSmall(budget.window, table)
