"""Callbacks, at the place LlamaIndex has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .instrumentation import BaseCallbackHandler, CallbackManager, CBEventType, EventPayload, PrintHandler
from .lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .instrumentation.opentelemetry import OpenTelemetryHandler

__all__ = [
    "BaseCallbackHandler",
    "CBEventType",
    "CallbackManager",
    "EventPayload",
    "OpenTelemetryHandler",
    "PrintHandler",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(__name__, {"OpenTelemetryHandler": "responsa.instrumentation.opentelemetry"})
