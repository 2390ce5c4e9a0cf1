"""The service's numbers, for Prometheus: kept by the process, told at `/metrics`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from responsa.schema.completions import Completion
from responsa.schema.errors import ResponsaError
from responsa.schema.events import AnswerReplaced, Done, Event, StepFinished, TextDelta

from ..runs.admission import Admission

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 600)


class Metrics:
    """Counts what the service does.

    No label holds what a client wrote: routes, modes, stages, outcomes and error codes are the program's own.

    Args:
        admission: The queue in front of the model.
    """

    def __init__(self, admission: Admission) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)

        def counter(name: str, meaning: str, *labels: str) -> Counter:
            return Counter(f"responsa_{name}", meaning, labels, registry=registry)

        def seconds(name: str, meaning: str, *labels: str) -> Histogram:
            return Histogram(f"responsa_{name}_seconds", meaning, labels, registry=registry, buckets=_SECONDS)

        def gauge(name: str, meaning: str, value: Callable[[], float]) -> None:
            Gauge(f"responsa_{name}", meaning, registry=registry).set_function(value)

        self._requests = counter("requests", "Requests, by route, method and status.", "route", "method", "status")
        self._request_seconds = seconds("request", "From a request to the end of its reply.", "route")
        self._answers = counter("answers", "Answers, by mode and how they came out.", "mode", "outcome")
        self._answer_seconds = seconds("answer", "From an answer's turn to its end.", "mode")
        self._first_text = seconds("answer_first_text", "From an answer's turn to its first words.", "mode")
        self._calls = counter("calls", "Calls of the model, by mode and stage.", "mode", "stage")
        self._call_seconds = seconds("call", "From a call to its end, by stage.", "stage")
        self._first_token = seconds("call_first_token", "From a call to its first token, by stage.", "stage")
        self._tokens = counter("tokens", "Tokens by mode; cached ones are part of the prompt.", "mode", "kind")
        self._cache_hits = counter("cache_hits", "Calls whose prompt the model server had in part.", "mode")
        self._errors = counter("errors", "Failures by their code.", "code")
        gauge("queue_waiting", "Questions that wait for their turn.", lambda: admission.waiting)
        gauge("answers_active", "Questions that have their turn.", lambda: admission.active)

    def text(self) -> bytes:
        """Return all numbers in Prometheus's text format."""
        return generate_latest(self._registry)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Note a request and its reply."""
        self._requests.labels(route, method, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def error(self, error: Exception) -> None:
        """Note a failure that a client was told of."""
        self._errors.labels(error.code if isinstance(error, ResponsaError) else "internal_error").inc()

    async def watched(self, mode: str, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Pass an answer's events on, and note its calls, its times and how it came out."""
        began = time.perf_counter()
        outcome = "failed"
        is_silent = True
        try:
            async with aclosing(events):
                async for event in events:
                    if is_silent and isinstance(event, TextDelta | AnswerReplaced):
                        is_silent = False
                        self._first_text.labels(mode).observe(time.perf_counter() - began)
                    elif isinstance(event, StepFinished):
                        self._call(mode, event.stage, event.completion)
                    elif isinstance(event, Done):
                        outcome = event.response.outcome.value
                    yield event
        except (asyncio.CancelledError, GeneratorExit):
            outcome = "stopped"
            raise
        finally:
            self._answers.labels(mode, outcome).inc()
            self._answer_seconds.labels(mode).observe(time.perf_counter() - began)

    def _call(self, mode: str, stage: str, completion: Completion | None) -> None:
        self._calls.labels(mode, stage).inc()
        if completion is None:
            return
        for histogram, value in (
            (self._first_token, completion.timings.first_token),
            (self._call_seconds, completion.timings.total),
        ):
            if value is not None:
                histogram.labels(stage).observe(value)
        usage = completion.usage
        counts = {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens, "cached": usage.cached_tokens}
        for kind, count in counts.items():
            self._tokens.labels(mode, kind).inc(count or 0)
        if usage.cached_tokens:
            self._cache_hits.labels(mode).inc()
