"""Every driver gives the same result, trace and events for the same completions."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs.scenes import (
    ANSWERS,
    STEPS,
    Result,
    Step,
    answering,
    async_events,
    async_run,
    by_call,
    comparable,
    program_of,
    sync_events,
)

from responsa.programs import Journal, replay, run
from responsa.schema.events import Done, ErrorRaised, Event
from responsa.schema.protocols import LLM

REPLAYABLE = st.lists(st.text(alphabet="ab 1.，我", max_size=8), min_size=1, max_size=5)  # a failure is not journaled


def result_of(events: list[Event]) -> Result:
    assert isinstance(events[-1], Done)
    assert isinstance(events[-1].response, Result)
    return events[-1].response


@given(STEPS, ANSWERS)
def test_one_call_at_a_time_all_drivers_tell_the_same_in_the_same_order(steps: list[Step], answers: list[str]) -> None:
    told = [
        list(map(comparable, events(program_of(steps), answering(answers, reasoning="hm"), 1)))
        for events in (sync_events, async_events)
    ]
    assert told[0] == told[1]
    results = [run(program_of(steps), answering(answers, reasoning="hm"), concurrency=1)]
    results.append(async_run(program_of(steps), answering(answers, reasoning="hm"), 1))
    assert [comparable(result) for result in results] == [told[0][-1].response] * 2


@given(STEPS, ANSWERS, st.integers(2, 4))
def test_with_calls_under_way_together_each_call_tells_the_same(
    steps: list[Step], answers: list[str], slots: int
) -> None:
    alone = sync_events(program_of(steps), answering(answers), 1)
    for events in (sync_events, async_events):
        llm = answering(answers, slots=slots)
        together = events(program_of(steps), llm)
        assert by_call(together) == by_call(alone)
        assert llm.peak <= slots
        assert llm.under_way == 0


@given(STEPS, REPLAYABLE, st.integers(1, 3))
def test_a_replay_from_memory_or_file_tells_the_same_without_a_model(
    steps: list[Step], answers: list[str], slots: int
) -> None:
    with TemporaryDirectory() as directory:
        path = Path(directory, "journal.jsonl")
        journal = Journal(path)
        first = comparable(run(program_of(steps), journal.over(answering(answers, slots=slots))))
        for kept in (journal, Journal(path)):
            assert comparable(replay(program_of(steps), kept)) == first
            told = by_call(sync_events(program_of(steps), kept.over(), 1))
            assert told == by_call(async_events(program_of(steps), kept.over(), slots))
            assert told == by_call(sync_events(program_of(steps), answering(answers), 1))


@given(STEPS, REPLAYABLE, st.data())
def test_a_run_that_broke_off_at_any_byte_of_its_journal_goes_on_and_asks_only_for_the_rest(
    steps: list[Step], answers: list[str], data: st.DataObject
) -> None:
    with TemporaryDirectory() as directory:
        path = Path(directory, "journal.jsonl")
        whole = comparable(run(program_of(steps), Journal(path).over(answering(answers))))
        written = path.read_bytes() if path.exists() else b""
        path.write_bytes(written[: data.draw(st.integers(0, len(written)), "cut")])

        broken = Journal(path)
        kept = sum(map(len, broken.streams.values()))
        llm = answering(answers)
        assert comparable(run(program_of(steps), broken.over(llm))) == whole
        assert kept + len(llm.prompts) == len(whole.calls)

        nobody: LLM | None = None
        assert comparable(run(program_of(steps), Journal(path).over(nobody))) == whole


@pytest.mark.parametrize("events", [sync_events, async_events])
def test_the_last_event_of_a_program_that_fails_is_its_error(events: type) -> None:
    told = events(program_of([Step("count", ("a",))]), None)
    assert len(told) == 1
    assert isinstance(told[0], ErrorRaised)
    assert told[0].error.code == "missing_part"
