"""The trace of a program: its calls with what came of them, and its warnings."""

from __future__ import annotations

from tests.programs.scenes import asking, call

from responsa.programs import Program, Recorder, ask, run, stream, traced, warn
from responsa.response_synthesizers import Refine
from responsa.schema.completions import Sampling
from responsa.schema.errors import RateLimited
from responsa.schema.events import Done, WarningRaised
from responsa.schema.nodes import NodeWithScore, TextNode
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


def test_an_answer_cut_at_its_limit_raises_one_warning_a_stage_that_names_it() -> None:
    nodes = [NodeWithScore(TextNode(text=f"Fact {number}.")) for number in range(4)]
    synthesizer = Refine(ScriptedLLM("one two three"))
    events = list(synthesizer.stream_events("What?", nodes, llm_kwargs={"max_tokens": 2}))
    notices = [Notice("answer_cut", {"stage": stage, "max_tokens": 2}) for stage in ("answer", "refine")]
    assert [event.notice for event in events if isinstance(event, WarningRaised)] == notices
    assert [list(event.response.warnings) for event in events if isinstance(event, Done)] == [notices]


def test_warnings_of_the_program_are_recorded_in_order() -> None:
    def program() -> Program[str]:
        yield from warn("unknown_citation", numbers=1)
        completion = yield from ask(call("a", sampling=Sampling(max_tokens=1)))
        yield from warn("unknown_citation", numbers=2)
        return completion.text

    recorder = Recorder()
    assert run(traced(program(), recorder), ScriptedLLM("one two")) == "one"
    assert [notice.code for notice in recorder.notices] == ["unknown_citation", "unknown_citation"]


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
