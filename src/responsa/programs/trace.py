"""The trace: every call a program made, with what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TypeVar

from responsa.schema.calls import CallRecord, LLMCall
from responsa.schema.completions import Completion
from responsa.schema.events import WarningRaised
from responsa.schema.notices import Notice

from .effects import Emit, Failed, Outcome, Program, warn

T = TypeVar("T")


@dataclass(slots=True)
class Recorder:
    """What a traced program did so far."""

    calls: list[CallRecord] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


def traced(program: Program[T], recorder: Recorder) -> Program[T]:
    """Run `program` as a part of another and keep its calls and warnings in `recorder`.

    An answer that ended at its token limit raises a warning of its own.
    """
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
                    yield from _record(effect, outcome, recorder)
                elif isinstance(effect, Emit) and isinstance(effect.event, WarningRaised):
                    recorder.notices.append(effect.event.notice)


def _record(call: LLMCall, outcome: Outcome, recorder: Recorder) -> Program[None]:
    number = len(recorder.calls)
    if isinstance(outcome, Failed):
        recorder.calls.append(CallRecord(number, call, error=outcome.error))
        return
    completion: Completion = outcome
    recorder.calls.append(CallRecord(number, call, completion))
    if completion.finish_reason == "length":
        notice = Notice("answer_cut", {"stage": call.stage, "max_tokens": call.sampling.max_tokens})
        recorder.notices.append(notice)
        yield from warn(notice.code, **notice.details)
