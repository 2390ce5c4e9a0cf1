"""Callbacks, at the place LlamaIndex has them."""

from __future__ import annotations

from .instrumentation import (
    BaseCallbackHandler,
    CallbackManager,
    CBEventType,
    EventPayload,
    OpenTelemetryHandler,
    PrintHandler,
)

__all__ = [
    "BaseCallbackHandler",
    "CBEventType",
    "CallbackManager",
    "EventPayload",
    "OpenTelemetryHandler",
    "PrintHandler",
]
