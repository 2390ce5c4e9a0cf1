"""The trace: every call a program made, with what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeVar

from responsa.schema.calls import CallRecord, LLMCall
from responsa.schema.events import WarningRaised
from responsa.schema.notices import Notice

from .effects import Emit, Failed, Outcome, Program

T = TypeVar("T")


@dataclass(slots=True)
class Recorder:
    """What a traced program did so far."""

    calls: list[CallRecord] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def traced(program: Program[T], recorder: Recorder) -> Program[T]:
    """Run `program` as a part of another and keep its calls and warnings in `recorder`."""
    outcomes: Sequence[Outcome] | None = None
    with closing(program):
        while True:
            try:
                step = program.send(outcomes)  # type: ignore[arg-type]
            except StopIteration as stop:
                result: T = stop.value
                return result
            outcomes = yield step
            for effect, outcome in zip(step, outcomes, strict=True):
                if isinstance(effect, LLMCall):
                    recorder.calls.append(_record(len(recorder.calls), effect, outcome))
                elif isinstance(effect, Emit) and isinstance(effect.event, WarningRaised):
                    recorder.notices.append(effect.event.notice)


def _record(number: int, call: LLMCall, outcome: Outcome) -> CallRecord:
    if isinstance(outcome, Failed):
        return CallRecord(number, call, error=outcome.error)
    return CallRecord(number, call, outcome)
