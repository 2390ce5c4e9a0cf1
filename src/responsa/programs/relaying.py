"""A program run as a part of another, which sees every step of it on the way to the driver and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TypeAlias, TypeVar

from .effects import Effect, Outcome, Program

T = TypeVar("T")
Relay: TypeAlias = Callable[[Sequence[Effect]], Program[Sequence[Outcome]]]


def relayed(program: Program[T], relay: Relay) -> Program[T]:
    """Run `program` as a part of another and return its result.

    Args:
        program: The program; it is closed with the one around it.
        relay: The program of each step: yields the step itself, or other steps in its place, and returns its outcomes.
    """
    outcomes: Sequence[Outcome] | None = None
    with closing(program):
        while True:
            try:
                step = program.send(outcomes)  # type: ignore[arg-type]
            except StopIteration as stop:
                result: T = stop.value
                return result
            outcomes = yield from relay(step)
