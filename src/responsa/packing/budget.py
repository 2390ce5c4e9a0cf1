"""The budget of a call: how many tokens of its window go to the answer, the fixed messages and the context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from responsa.schema.completions import LLMMetadata, Sampling
from responsa.schema.errors import WindowTooSmall

MIN_OUTPUT: Final = 48
MIN_ROOM: Final = 64
MARGIN: Final = 8  # tokens left free: joining counted parts may add a few


@dataclass(frozen=True, slots=True)
class Budget:
    """How a window is shared out, in tokens.

    Args:
        window: All that prompt and answer may have together.
        fixed: The messages without context.
        output: Reserved for the answer.
        wanted_output: What the answer was to have.
        room: Left for context.
    """

    window: int
    fixed: int
    output: int
    wanted_output: int
    room: int


def wanted_output(metadata: LLMMetadata, sampling: Sampling) -> int:
    """Return the tokens an answer is to have: the call's own, else the LLM's up to a third of the window."""
    if sampling.max_tokens is not None:
        return sampling.max_tokens
    return min(metadata.num_output, max(metadata.context_window // 3, MIN_OUTPUT))


def share_out(
    window: int, fixed: int, wanted: int, *, min_room: int = MIN_ROOM, pack_limit: int | None = None
) -> Budget:
    """Share out a window.

    The context gives way first, down to `min_room`; then the answer's reserve, down to `MIN_OUTPUT`.

    Args:
        window: All that prompt and answer may have together, in tokens.
        fixed: The messages without context.
        wanted: What the answer is to have.
        min_room: The least that is left for context.
        pack_limit: The most that is used for context, where that is to be less than there is room for.

    Raises:
        WindowTooSmall: Even so it does not fit; the error carries the table of numbers.
    """
    left = window - fixed - MARGIN
    output = min(wanted, max(left - min_room, min(MIN_OUTPUT, wanted)))
    room = left - output
    if room < min_room:
        table = (
            ("fixed messages", fixed),
            ("answer, at least", output),
            ("context, at least", min_room),
            ("margin", MARGIN),
        )
        raise WindowTooSmall(window, table)
    if pack_limit is not None:
        room = max(min(room, pack_limit), min_room)
    return Budget(window, fixed, output, wanted, room)
