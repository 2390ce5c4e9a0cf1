"""Callbacks as OpenTelemetry spans, by its conventions for generative models. Needs the package opentelemetry-api."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from responsa.schema.completions import Timings
from responsa.schema.errors import MissingExtra

from .callbacks import BaseCallbackHandler, CBEventType, EventPayload

if TYPE_CHECKING:
    from opentelemetry.trace import Span

_OPERATIONS: Final = {
    CBEventType.LLM: "chat",
    CBEventType.RETRIEVE: "retrieval",
    CBEventType.SYNTHESIZE: "invoke_agent",
}


class OpenTelemetryHandler(BaseCallbackHandler):
    """Makes a span of each retrieval, synthesis and call, with `gen_ai.*` attributes; no text of any message.

    Raises:
        MissingExtra: The package opentelemetry-api is not installed.
    """

    def __init__(self) -> None:
        super().__init__()
        try:
            import opentelemetry.trace as trace
        except ImportError as error:
            raise MissingExtra("opentelemetry-api", "observability") from error
        self._trace = trace
        self._tracer = trace.get_tracer("responsa")
        self._spans: dict[str, Span] = {}
        self._parents: dict[str, str] = {}

    def on_event_start(
        self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str, parent_id: str
    ) -> None:
        """Start a span, inside that of its parent; of a call, when it has ended and its times are known."""
        if event_type is CBEventType.LLM:
            self._parents[event_id] = parent_id
        else:
            self._spans[event_id] = self._start(event_type, parent_id)

    def on_event_end(self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str) -> None:
        """End the span with its token counts, or with its error."""
        timings: Timings = payload.get(EventPayload.TIMINGS) or Timings()
        began, ended = _nanoseconds(timings.sent_at, 0.0), _nanoseconds(timings.sent_at, timings.total)
        if event_type is CBEventType.LLM:
            stage = payload.get(EventPayload.STAGE, "")
            span = self._start(event_type, self._parents.pop(event_id), stage, start_time=began)
        else:
            span = self._spans.pop(event_id)
        reason = payload.get(EventPayload.FINISH_REASON)
        attributes = {
            "gen_ai.response.model": payload.get(EventPayload.MODEL),
            "gen_ai.response.finish_reasons": [reason] if reason else None,
            "gen_ai.usage.input_tokens": payload.get(EventPayload.PROMPT_TOKENS),
            "gen_ai.usage.output_tokens": payload.get(EventPayload.COMPLETION_TOKENS),
        }
        for name, value in attributes.items():
            if value is not None:
                span.set_attribute(name, value)
        error = payload.get(EventPayload.EXCEPTION)
        if error is not None:
            span.set_attribute("error.type", type(error).__qualname__)
        if isinstance(error, Exception):  # a run that was closed or cancelled did not fail
            span.record_exception(error)
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, str(error)))
        span.end(end_time=ended)

    def _start(
        self, event_type: CBEventType, parent_id: str, stage: str = "", *, start_time: int | None = None
    ) -> Span:
        parent = self._spans.get(parent_id)
        context = self._trace.set_span_in_context(parent) if parent is not None else None
        operation = _OPERATIONS[event_type]
        span = self._tracer.start_span(f"{operation} {stage}".strip(), context=context, start_time=start_time)
        span.set_attribute("gen_ai.operation.name", operation)
        return span


def _nanoseconds(sent_at: float | None, later: float | None) -> int | None:
    return None if sent_at is None or later is None else int((sent_at + later) * 1e9)
