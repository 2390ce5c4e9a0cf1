"""Callbacks as OpenTelemetry spans, by its conventions for generative models. Needs the package opentelemetry-api."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from responsa.schema.errors import MissingExtra

from .callbacks import BaseCallbackHandler, CBEventType, EventPayload

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
        try:
            import opentelemetry.trace as trace
        except ImportError as error:
            raise MissingExtra("opentelemetry-api", "observability") from error
        self._trace = trace
        self._tracer = trace.get_tracer("responsa")
        self._spans: dict[str, Any] = {}

    def on_event_start(
        self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str, parent_id: str
    ) -> None:
        """Start a span, inside that of its parent."""
        parent = self._spans.get(parent_id)
        context = self._trace.set_span_in_context(parent) if parent is not None else None
        name = f"{_OPERATIONS[event_type]} {payload.get(EventPayload.STAGE, '')}".strip()
        span = self._tracer.start_span(name, context=context)
        span.set_attribute("gen_ai.operation.name", _OPERATIONS[event_type])
        self._spans[event_id] = span

    def on_event_end(self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str) -> None:
        """End the span with its token counts, or with its error."""
        span = self._spans.pop(event_id)
        attributes = {
            "gen_ai.response.model": payload.get(EventPayload.MODEL),
            "gen_ai.usage.input_tokens": payload.get(EventPayload.PROMPT_TOKENS),
            "gen_ai.usage.output_tokens": payload.get(EventPayload.COMPLETION_TOKENS),
        }
        for name, value in attributes.items():
            if value is not None:
                span.set_attribute(name, value)
        error = payload.get(EventPayload.EXCEPTION)
        if error is not None:
            span.record_exception(error)
            span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, str(error)))
        span.end()
