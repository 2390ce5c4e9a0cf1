"""Spans: one inside the other, with the conventions' names, the calls' own times, and no text of anybody."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.response_synthesizers.scenes import QUESTION, asynthesized, passages, synthesized

from responsa import get_response_synthesizer
from responsa.callbacks import CallbackManager, OpenTelemetryHandler
from responsa.schema.errors import MissingExtra, RateLimited
from responsa.testing import ScriptedLLM

SECRET = "Nobody may read this."


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What was traced, kept in memory; the process's own provider is left alone."""
    kept = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", lambda name: provider.get_tracer(name))
    yield kept
    provider.shutdown()


def traced(llm: ScriptedLLM, mode: str = "compact", **options: Any) -> Any:
    manager = CallbackManager([OpenTelemetryHandler()])
    return get_response_synthesizer(llm, response_mode=mode, callback_manager=manager, **options)


def named(exporter: InMemorySpanExporter, prefix: str) -> list[ReadableSpan]:
    spans = [span for span in exporter.get_finished_spans() if span.name.startswith(prefix)]
    return sorted(spans, key=lambda span: span.start_time or 0)


def test_calls_stand_inside_their_synthesis_with_their_tokens(exporter: InMemorySpanExporter) -> None:
    response = synthesized(traced(ScriptedLLM("An owner [1]."), "refine"), QUESTION, passages("a", "b"))
    (synthesis,) = named(exporter, "invoke_agent")
    calls = named(exporter, "chat")
    assert [span.name for span in calls] == ["chat answer", "chat refine"]
    for span, record in zip(calls, response.trace, strict=True):
        assert span.parent is not None
        assert span.parent.span_id == synthesis.context.span_id
        assert record.completion is not None
        assert dict(span.attributes or {}) == {
            "gen_ai.operation.name": "chat",
            "gen_ai.response.model": "scripted",
            "gen_ai.response.finish_reasons": ("stop",),
            "gen_ai.usage.input_tokens": record.completion.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": record.completion.usage.completion_tokens,
        }
        assert record.completion.timings.total is not None
        seconds = ((span.end_time or 0) - (span.start_time or 0)) / 1e9
        assert seconds == pytest.approx(record.completion.timings.total, abs=1e-6)


def test_spans_join_a_trace_that_is_going_on(exporter: InMemorySpanExporter) -> None:
    with trace.get_tracer("mine").start_as_current_span("request") as request:
        synthesized(traced(ScriptedLLM()), QUESTION, passages("a"))
    (synthesis,) = named(exporter, "invoke_agent")
    assert synthesis.parent is not None
    assert synthesis.parent.span_id == request.get_span_context().span_id


def test_no_text_of_questions_passages_or_answers_leaves_the_process(exporter: InMemorySpanExporter) -> None:
    synthesized(traced(ScriptedLLM(SECRET)), SECRET, passages(SECRET))
    told = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert "Nobody" not in told
    assert len(exporter.get_finished_spans()) == 2


def test_a_failure_is_an_error_of_its_call_and_of_the_synthesis(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(RateLimited):
        synthesized(traced(ScriptedLLM(RateLimited("http://server"))), QUESTION, passages("a"))
    for span in exporter.get_finished_spans():
        assert span.status.status_code is trace.StatusCode.ERROR
        assert (span.attributes or {})["error.type"] == "RateLimited"
        assert [event.name for event in span.events] == ["exception"]
    assert len(exporter.get_finished_spans()) == 2


def test_a_stream_that_is_closed_ends_its_spans_without_an_error(exporter: InMemorySpanExporter) -> None:
    told = traced(ScriptedLLM("one two three")).stream_events(QUESTION, passages("a"))
    for event in told:
        if event.type == "text_delta":
            break
    told.close()
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["chat answer", "invoke_agent"]
    assert all(span.status.status_code is trace.StatusCode.UNSET for span in spans)
    assert all((span.attributes or {})["error.type"] == "GeneratorExit" for span in spans)


def test_calls_made_together_each_have_their_own_times(exporter: InMemorySpanExporter) -> None:
    response = asynthesized(
        traced(ScriptedLLM("An owner."), "accumulate", concurrency=2), QUESTION, passages(*"abcdefgh")
    )
    calls = named(exporter, "chat")
    times = [record.completion.timings for record in response.trace if record.completion]
    assert sorted(span.start_time or 0 for span in calls) == sorted(int((one.sent_at or 0) * 1e9) for one in times)
    # The last of eight calls, two at a time, was sent after the first had come back.
    assert (calls[-1].start_time or 0) >= (calls[0].end_time or 0)


def test_without_the_package_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(MissingExtra, match=r"responsa\[observability\]"):
        OpenTelemetryHandler()
