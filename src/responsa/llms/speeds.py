"""How fast a model's servers read and write, by the answers they gave: what makes a plan's seconds."""

from __future__ import annotations

from typing import Final

from ..schema.completions import Finish

# Of fewer tokens the time is mostly that of something else.
FEWEST_READ: Final = 16
FEWEST_WRITTEN: Final = 3


class Speeds:
    """The speeds last seen, in tokens a second; None before.

    Where a server tells no times of its own, those of the stream are taken: waiting for a slot is part of them.
    """

    def __init__(self) -> None:
        self.prompt: float | None = None
        self.output: float | None = None

    def learn(self, finish: Finish) -> None:
        """Note the speeds of a whole answer, where it was long enough to tell."""
        self.prompt = prompt_speed(finish, finish.timings.first_token) or self.prompt
        self.output = output_speed(finish, _seconds_of_writing(finish)) or self.output


def prompt_speed(finish: Finish, measured: float | None = None) -> float | None:
    """Return the prompt tokens read a second; None where too few were read, or no time is known.

    Args:
        finish: The answer's end, with the server's own time if it tells it.
        measured: The time in seconds to take in its place.
    """
    evaluated = (finish.usage.prompt_tokens or 0) - (finish.usage.cached_tokens or 0)
    seconds = finish.timings.server_prompt or measured
    return evaluated / seconds if seconds and evaluated >= FEWEST_READ else None


def output_speed(finish: Finish, measured: float | None = None) -> float | None:
    """Return the tokens written a second; None where too few were written, or no time is known.

    Args:
        finish: The answer's end, with the server's own time if it tells it.
        measured: The time in seconds from the first token to the last, to take in its place.
    """
    written = finish.usage.completion_tokens or 0
    if written < FEWEST_WRITTEN:
        return None
    if finish.timings.server_predicted:
        return written / finish.timings.server_predicted
    return (written - 1) / measured if measured else None


def _seconds_of_writing(finish: Finish) -> float | None:
    first, total = finish.timings.first_token, finish.timings.total
    return total - first if first is not None and total is not None else None
