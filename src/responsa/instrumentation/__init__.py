"""Telling others what happens: callbacks, and OpenTelemetry spans."""

from .callbacks import BaseCallbackHandler, CallbackManager, CBEventType, EventPayload, PrintHandler
from .observing import observed, watched

__all__ = [
    "BaseCallbackHandler",
    "CBEventType",
    "CallbackManager",
    "EventPayload",
    "PrintHandler",
    "observed",
    "watched",
]
