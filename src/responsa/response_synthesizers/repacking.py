"""What happens where a server counts a prompt longer than its window: everything is packed once more, smaller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from responsa.packing.budget import MARGIN
from responsa.programs import LLMCall, Program, measure, warn
from responsa.programs.effects import Effect, Failed, Outcome
from responsa.programs.relaying import relayed
from responsa.schema.completions import Completion, LLMMetadata
from responsa.schema.errors import ContextWindowExceeded

T = TypeVar("T")

# What is taken of a window where a server says only that a prompt is too long.
_SHARE: Final = 0.75


class _TooLong(Exception):
    """A call's prompt is too long, and nothing of an answer has been shown yet."""

    def __init__(self, call: LLMCall, error: ContextWindowExceeded, window: int) -> None:
        super().__init__(str(error))
        self.call = call
        self.error = error
        self.window = window


def repacked_once(make: Callable[[], Program[T]]) -> Program[T]:
    """Run a program, and once more with a smaller window where the server counts one of its prompts too long.

    That comes to pass where tokens can only be estimated. The window shrinks by as much as the server counted more.

    Args:
        make: Makes the program anew.

    Raises:
        ContextWindowExceeded: A prompt is too long also then, or a part of the answer had been shown already.
    """
    try:
        return (yield from relayed(make(), _Watch().step))
    except _TooLong as caught:
        found = caught
    window = yield from _smaller(found)
    yield from warn("repacked", stage=found.call.stage, window=window)

    def within(step: Sequence[Effect]) -> Program[Sequence[Outcome]]:
        outcomes = yield step
        return [_limited(outcome, window) for outcome in outcomes]

    return (yield from relayed(make(), within))


class _Watch:
    def __init__(self) -> None:
        self._window = 0
        self._shown = False

    def step(self, step: Sequence[Effect]) -> Program[Sequence[Outcome]]:
        outcomes = yield step
        too_long: _TooLong | None = None
        for effect, outcome in zip(step, outcomes, strict=True):
            if isinstance(outcome, LLMMetadata):
                self._window = outcome.context_window
            elif isinstance(effect, LLMCall):
                if isinstance(outcome, Completion):
                    self._shown = self._shown or (effect.visible and not effect.draft)
                elif isinstance(outcome, Failed) and isinstance(outcome.error, ContextWindowExceeded):
                    too_long = too_long or _TooLong(effect, outcome.error, self._window)
        if too_long is not None and not self._shown:
            raise too_long
        return outcomes


def _smaller(found: _TooLong) -> Program[int]:
    """Return the window to pack for, in tokens as they are counted here."""
    served = min(found.window, found.error.n_ctx or found.window)
    if found.error.n_prompt_tokens is None:
        return served - MARGIN if served < found.window else int(found.window * _SHARE)
    # Counted again: what the server said may have corrected the estimate already.
    (counted,) = yield from measure([found.call.messages])
    return int(served * min(1.0, counted / found.error.n_prompt_tokens)) - MARGIN


def _limited(outcome: Outcome, window: int) -> Outcome:
    if isinstance(outcome, LLMMetadata):
        return replace(outcome, context_window=min(outcome.context_window, window))
    return outcome
