"""Calls that do not depend on each other: bounded, in order, and each failing for itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.programs.scenes import asking, async_events, async_run, call, sync_events

from responsa.programs import arun, run
from responsa.schema.calls import LLMCall
from responsa.schema.completions import Delta, Finish
from responsa.schema.errors import MissingPart, RequestRefused, StepFailed
from responsa.schema.events import StepFinished
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM

RUNS = pytest.mark.parametrize("run_it", [run, async_run], ids=["run", "arun"])
EVENTS = pytest.mark.parametrize("events", [sync_events, async_events], ids=["stream", "astream"])

TEN = [call(f"question {number}", stage=f"step{number}") for number in range(10)]


def echo(messages: Sequence[ChatMessage]) -> str:
    return f"answer to {messages[0].content}, at some length"


def failing_at_four(messages: Sequence[ChatMessage]) -> str | Exception:
    return RequestRefused("scripted", 400, "no") if messages[0].content == "question 4" else echo(messages)


@RUNS
@pytest.mark.parametrize(
    ("slots", "concurrency", "peak"),
    [(1, None, 1), (3, None, 3), (3, 2, 2), (1, 4, 4), (20, None, 10), (4, 1, 1)],
)
def test_no_more_calls_are_under_way_than_allowed_and_no_fewer(
    run_it: Callable[..., Any], slots: int, concurrency: int | None, peak: int
) -> None:
    llm = ScriptedLLM(echo, slots=slots)
    texts = run_it(asking(*TEN), llm, concurrency=concurrency)
    assert texts == [echo(one.messages) for one in TEN]
    assert (llm.peak, llm.under_way) == (peak, 0)


@EVENTS
@pytest.mark.parametrize("slots", [1, 3])
def test_one_failing_call_of_ten_keeps_the_other_nine_and_is_named(events: Callable[..., Any], slots: int) -> None:
    told = events(asking(*TEN), ScriptedLLM(failing_at_four, slots=slots))
    results = told[-1].response
    assert isinstance(results[4], RequestRefused)
    assert [text for text in results if isinstance(text, str)] == [echo(one.messages) for one in TEN[:4] + TEN[5:]]
    ends = {event.number: event for event in told if isinstance(event, StepFinished)}
    assert sorted(ends) == list(range(10))
    assert [(number, end.stage) for number, end in ends.items() if end.error is not None] == [(4, "step4")]


class Foreign(ScriptedLLM):
    """A user's own model, which raises what it likes, when it likes."""

    def __init__(self, *, after_text: bool, **options: Any) -> None:
        super().__init__(**options)
        self.after_text = after_text

    def stream(self, messages, sampling):
        if self.after_text:
            yield Delta("Half")
        raise KeyError("mine")
        yield Finish()

    async def astream(self, messages, sampling):
        if self.after_text:
            yield Delta("Half")
        raise KeyError("mine")
        yield Finish()


@RUNS
@pytest.mark.parametrize("calls", [[call("a")], [call("a"), call("b")]], ids=["alone", "together"])
def test_a_foreign_exception_becomes_a_failed_step_with_its_cause(
    run_it: Callable[..., Any], calls: list[LLMCall]
) -> None:
    for error in run_it(asking(*calls), Foreign(after_text=False, slots=2)):
        assert isinstance(error, StepFailed)
        assert error.stage == "answer"
        assert isinstance(error.__cause__, KeyError)
    for error in run_it(asking(*calls), Foreign(after_text=True, slots=2)):
        assert error.text_so_far == "Half"
        assert isinstance(error.__cause__.__cause__, KeyError)


@RUNS
def test_a_program_that_makes_calls_needs_a_model(run_it: Callable[..., Any]) -> None:
    for calls in ([call("a")], [call("a"), call("b")]):
        with pytest.raises(MissingPart, match="LLM"):
            run_it(asking(*calls), None)


@RUNS
def test_a_program_without_calls_needs_none(run_it: Callable[..., Any]) -> None:
    assert run_it(asking(), None) == []


def test_the_blocking_drivers_work_inside_a_running_event_loop() -> None:
    async def notebook() -> None:
        llm = ScriptedLLM(echo, slots=3)
        assert run(asking(*TEN), llm) == [echo(one.messages) for one in TEN]
        assert llm.peak == 3
        assert run(asking(TEN[0]), llm) == [echo(TEN[0].messages)]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(notebook())


def test_several_loops_and_threads_may_run_programs_at_once() -> None:
    async def both() -> list[Any]:
        runs = [asyncio.to_thread(run, asking(*TEN), ScriptedLLM(echo, slots=3)) for _ in range(4)]
        return list(await asyncio.gather(*runs))

    assert asyncio.run(both()) == [[echo(one.messages) for one in TEN]] * 4


def test_the_async_driver_lets_others_run_between_pieces() -> None:
    async def race() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        await arun(asking(call("a")), ScriptedLLM("one two three four five"))
        task.cancel()
        return turns

    assert asyncio.run(race()) >= 5
