"""The trace of a program: its calls with what came of them, and its warnings."""

from __future__ import annotations

from tests.programs.scenes import asking, call

from responsa.programs import Program, Recorder, ask, run, stream, traced, warn
from responsa.schema.completions import Sampling
from responsa.schema.errors import RateLimited
from responsa.schema.events import WarningRaised
from responsa.schema.notices import Notice
from responsa.testing import ScriptedLLM


def test_every_call_is_recorded_in_its_order_with_its_completion_or_error() -> None:
    recorder = Recorder()
    failure = RateLimited("u")
    calls = [call("a"), call("b", "refine"), call("c")]
    llm = ScriptedLLM(lambda messages: failure if messages[0].content == "b" else f"to {messages[0].content}", slots=3)
    run(traced(asking(*calls), recorder), llm)
    assert [record.number for record in recorder.calls] == [0, 1, 2]
    assert [record.call for record in recorder.calls] == calls
    texts = [record.completion and record.completion.text for record in recorder.calls]
    assert texts == ["to a", None, "to c"]
    assert recorder.calls[1].error is failure


def test_an_answer_cut_at_its_limit_raises_a_warning_that_names_it() -> None:
    recorder = Recorder()
    cut = call("a", "refine", sampling=Sampling(max_tokens=2))
    events = list(stream(traced(asking(cut, call("b")), recorder), ScriptedLLM("one two three")))
    notice = Notice("answer_cut", {"stage": "refine", "max_tokens": 2})
    assert recorder.notices == [notice]
    assert [event.notice for event in events if isinstance(event, WarningRaised)] == [notice]


def test_warnings_of_the_program_are_recorded_in_order() -> None:
    def program() -> Program[str]:
        yield from warn("unknown_citation", number=1)
        completion = yield from ask(call("a", sampling=Sampling(max_tokens=1)))
        yield from warn("unknown_citation", number=2)
        return completion.text

    recorder = Recorder()
    assert run(traced(program(), recorder), ScriptedLLM("one two")) == "one"
    assert [notice.code for notice in recorder.notices] == ["unknown_citation", "answer_cut", "unknown_citation"]


def test_closing_a_traced_program_closes_what_it_traces() -> None:
    closed: list[bool] = []

    def program() -> Program[None]:
        try:
            yield from ask(call("a"))
        finally:
            closed.append(True)

    events = stream(traced(program(), Recorder()), ScriptedLLM())
    next(events)
    events.close()
    assert closed == [True]
