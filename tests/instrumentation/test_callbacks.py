"""Handlers are told of the start and the end of each search, synthesis and call, in every way to ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.response_synthesizers.scenes import QUESTION, RESPONDING, events, long_passages, passages, synthesized

from responsa import NodeWithScore, RetrieverQueryEngine, Settings, get_response_synthesizer
from responsa.callbacks import BaseCallbackHandler, CallbackManager, CBEventType, EventPayload, PrintHandler
from responsa.schema.errors import RateLimited, RetrievalFailed
from responsa.schema.response import Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)


class Recorder(BaseCallbackHandler):
    """Keeps what it is told."""

    def __init__(self, **ignored: Any) -> None:
        super().__init__(**ignored)
        self.started: list[tuple[CBEventType, str, str, Mapping[str, Any]]] = []
        self.ended: list[tuple[CBEventType, str, Mapping[str, Any]]] = []

    def on_event_start(
        self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str, parent_id: str
    ) -> None:
        self.started.append((event_type, event_id, parent_id, payload))

    def on_event_end(self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str) -> None:
        self.ended.append((event_type, event_id, payload))

    def ends_of(self, event_type: CBEventType) -> list[Mapping[str, Any]]:
        return [payload for kind, _, payload in self.ended if kind is event_type]


def check_pairs(recorder: Recorder) -> None:
    """Whatever was started has ended, once, and under a parent that had started and not ended."""
    started = [(kind, event_id) for kind, event_id, _, _ in recorder.started]
    ended = [(kind, event_id) for kind, event_id, _ in recorder.ended]
    assert sorted(started) == sorted(ended)
    assert len(set(started)) == len(started)
    known = {""} | {event_id for _, event_id in started}
    assert all(parent in known for _, _, parent, _ in recorder.started)
    assert all(payload[EventPayload.SECONDS] >= 0 for _, _, payload in recorder.ended)


@EVERY_WAY
@pytest.mark.parametrize("mode", ["refine", "compact", "tree_summarize", "accumulate", "generation", "no_text"])
def test_handlers_are_told_of_the_synthesis_and_of_every_call(respond: Callable[..., Response], mode: str) -> None:
    recorder = Recorder()
    llm = ScriptedLLM("An owner [1].", slots=2)
    manager = CallbackManager([recorder])
    response = respond(
        get_response_synthesizer(llm, response_mode=mode, callback_manager=manager), QUESTION, passages("a", "b")
    )
    check_pairs(recorder)
    (kind, synthesis, parent, payload), *calls = recorder.started
    assert (kind, parent, payload[EventPayload.QUERY_STR]) == (CBEventType.SYNTHESIZE, "", QUESTION)
    assert [call[0] for call in calls] == [CBEventType.LLM] * len(response.trace)
    assert [call[2] for call in calls] == [synthesis] * len(calls)
    assert [call[3][EventPayload.STAGE] for call in calls] == [record.call.stage for record in response.trace]
    assert [call[3][EventPayload.MESSAGES] for call in calls] == [record.call.messages for record in response.trace]
    for payload, record in zip(recorder.ends_of(CBEventType.LLM), response.trace, strict=True):
        assert record.completion is not None
        assert payload[EventPayload.RESPONSE] == record.completion.text
        assert payload[EventPayload.PROMPT_TOKENS] == record.completion.usage.prompt_tokens
        assert payload[EventPayload.COMPLETION_TOKENS] == record.completion.usage.completion_tokens
        assert payload[EventPayload.SECONDS] == record.completion.timings.total
        assert payload[EventPayload.MODEL] == "scripted"
        assert payload[EventPayload.FINISH_REASON] == "stop"
    (ended,) = recorder.ends_of(CBEventType.SYNTHESIZE)
    assert ended[EventPayload.RESPONSE] == response
    assert recorder.ended[-1][0] is CBEventType.SYNTHESIZE


@EVERY_WAY
def test_a_call_that_fails_has_ended_too(respond: Callable[..., Response]) -> None:
    recorder = Recorder()
    llm = ScriptedLLM(["One.", RateLimited("http://server"), "Three."])
    manager = CallbackManager([recorder])
    mode = get_response_synthesizer(llm, response_mode="accumulate", callback_manager=manager, use_async=False)
    respond(mode, QUESTION, passages("a", "b", "c"))
    check_pairs(recorder)
    errors = [payload.get(EventPayload.EXCEPTION) for payload in recorder.ends_of(CBEventType.LLM)]
    assert [type(error) for error in errors] == [type(None), RateLimited, type(None)]
    failing = get_response_synthesizer(ScriptedLLM(RateLimited("http://server")), callback_manager=manager)
    with pytest.raises(RateLimited):
        respond(failing, QUESTION, passages("a"))
    check_pairs(recorder)
    assert isinstance(recorder.ends_of(CBEventType.SYNTHESIZE)[-1][EventPayload.EXCEPTION], RateLimited)


def test_a_stream_that_is_closed_ends_what_it_had_begun() -> None:
    recorder = Recorder()
    mode = get_response_synthesizer(ScriptedLLM("one two three"), callback_manager=CallbackManager([recorder]))
    told = mode.stream_events(QUESTION, passages("a"))
    for event in told:
        if event.type == "text_delta":
            break
    told.close()
    check_pairs(recorder)
    assert [payload[EventPayload.EXCEPTION].__class__ for _, _, payload in recorder.ended] == [GeneratorExit] * 2


def test_a_plan_tells_nobody() -> None:
    recorder = Recorder()
    mode = get_response_synthesizer(ScriptedLLM(), callback_manager=CallbackManager([recorder]))
    mode.plan(QUESTION, passages("a"))
    assert recorder.started == []
    events(mode, QUESTION, passages("a"))
    assert len(recorder.started) == 2


def test_a_handler_may_ignore_starts_or_ends() -> None:
    recorder = Recorder(event_starts_to_ignore=[CBEventType.LLM], event_ends_to_ignore=[CBEventType.SYNTHESIZE])
    manager = CallbackManager([recorder])
    synthesized(get_response_synthesizer(ScriptedLLM(), callback_manager=manager), QUESTION, passages("a"))
    assert [kind for kind, *_ in recorder.started] == [CBEventType.SYNTHESIZE]
    assert [kind for kind, *_ in recorder.ended] == [CBEventType.LLM]


def test_handlers_are_told_in_order_added_and_removed() -> None:
    one, two = Recorder(), Recorder()
    manager = CallbackManager()
    manager.add_handler(one)
    manager.add_handler(two)
    mode = get_response_synthesizer(ScriptedLLM(), callback_manager=manager)
    synthesized(mode, QUESTION, passages("a"))
    manager.remove_handler(two)
    synthesized(mode, QUESTION, passages("a"))
    assert (len(one.started), len(two.started)) == (4, 2)


def test_the_settings_handlers_are_told_where_no_others_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere, own = Recorder(), Recorder()
    monkeypatch.setattr(Settings, "callback_manager", CallbackManager([everywhere]))
    synthesized(get_response_synthesizer(ScriptedLLM()), QUESTION, passages("a"))
    mode = get_response_synthesizer(ScriptedLLM(), callback_manager=CallbackManager([own]))
    synthesized(mode, QUESTION, passages("a"))
    assert (len(everywhere.started), len(own.started)) == (2, 2)


class Finding:
    """A retriever that finds what it is told to."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def retrieve(self, query: Any) -> list[NodeWithScore]:
        if isinstance(self.found, Exception):
            raise self.found
        return list(self.found)

    async def aretrieve(self, query: Any) -> list[NodeWithScore]:
        return self.retrieve(query)


def test_a_query_engine_tells_of_its_search() -> None:
    recorder = Recorder()
    nodes = passages("a", "b")
    manager = CallbackManager([recorder])
    engine = RetrieverQueryEngine.from_args(Finding(nodes), ScriptedLLM(), callback_manager=manager)
    engine.query(QUESTION)
    check_pairs(recorder)
    assert [kind.value for kind, *_ in recorder.started] == ["retrieve", "synthesize", "llm"]
    assert recorder.ends_of(CBEventType.RETRIEVE)[0][EventPayload.NODES] == nodes
    with pytest.raises(RetrievalFailed):
        RetrieverQueryEngine.from_args(Finding(OSError("gone")), ScriptedLLM(), callback_manager=manager).query("Who?")
    check_pairs(recorder)
    assert EventPayload.EXCEPTION in recorder.ends_of(CBEventType.RETRIEVE)[1]


def test_verbose_prints_a_line_for_each_call_and_the_whole(capsys: pytest.CaptureFixture[str]) -> None:
    recorder = Recorder()
    llm = ScriptedLLM(["One two.", "Three.", "Both."], context_window=900, num_output=100)
    mode = get_response_synthesizer(
        llm, response_mode="tree_summarize", verbose=True, callback_manager=CallbackManager([recorder]), use_async=False
    )
    synthesized(mode, QUESTION, long_passages(2, times=8))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["summarize", "summarize", "answer", "synthesize"]
    assert "4 written" in lines[0]
    assert " s, " in lines[0]
    check_pairs(recorder)
    assert len(recorder.started) == 4
    with pytest.raises(RateLimited):
        synthesized(
            get_response_synthesizer(ScriptedLLM(RateLimited("http://server")), verbose=True), QUESTION, passages("a")
        )
    assert "failed: The server at http://server" in capsys.readouterr().out


def test_without_verbose_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for mode in ("refine", "accumulate", "tree_summarize"):
        synthesized(get_response_synthesizer(ScriptedLLM(), response_mode=mode), QUESTION, passages("a", "b"))
    assert capsys.readouterr().out == ""
    assert PrintHandler().event_starts_to_ignore == ()


def test_what_a_handler_raises_reaches_the_caller() -> None:
    class Broken(Recorder):
        def on_event_start(self, *args: Any) -> None:
            raise LookupError("mine")

    mode = get_response_synthesizer(ScriptedLLM(), callback_manager=CallbackManager([Broken()]))
    with pytest.raises(LookupError, match="mine"):
        mode.synthesize(QUESTION, passages("a"))
