"""Telling others what happens: callbacks, and OpenTelemetry spans."""

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

from .callbacks import BaseCallbackHandler, CallbackManager, CBEventType, EventPayload, PrintHandler
from .observing import observed, watched

if TYPE_CHECKING:
    from .opentelemetry import OpenTelemetryHandler

__all__ = [
    "BaseCallbackHandler",
    "CBEventType",
    "CallbackManager",
    "EventPayload",
    "OpenTelemetryHandler",
    "PrintHandler",
    "observed",
    "watched",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(__name__, {"OpenTelemetryHandler": ".opentelemetry"})
