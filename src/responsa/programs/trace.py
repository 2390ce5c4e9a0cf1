"""The trace: every call a program made, with what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from responsa.schema.calls import CallRecord, LLMCall
from responsa.schema.events import WarningRaised
from responsa.schema.notices import Notice

from .effects import Effect, Emit, Failed, Outcome, Program
from .relaying import relayed

T = TypeVar("T")


@dataclass(slots=True)
class Recorder:
    """What a traced program did so far."""

    calls: list[CallRecord] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def traced(program: Program[T], recorder: Recorder) -> Program[T]:
    """Run `program` as a part of another and keep its calls and warnings in `recorder`."""

    def kept(step: Sequence[Effect]) -> Program[Sequence[Outcome]]:
        outcomes = yield step
        for effect, outcome in zip(step, outcomes, strict=True):
            if isinstance(effect, LLMCall):
                recorder.calls.append(_record(len(recorder.calls), effect, outcome))
            elif isinstance(effect, Emit) and isinstance(effect.event, WarningRaised):
                recorder.notices.append(effect.event.notice)
        return outcomes

    return relayed(program, kept)


def _record(number: int, call: LLMCall, outcome: Outcome) -> CallRecord:
    if isinstance(outcome, Failed):
        return CallRecord(number, call, error=outcome.error)
    return CallRecord(number, call, outcome)
