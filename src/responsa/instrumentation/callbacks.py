"""Callbacks: handlers that are told of the start and the end of each retrieval, synthesis and call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any


class CBEventType(StrEnum):
    """What a handler is told of."""

    RETRIEVE = "retrieve"
    SYNTHESIZE = "synthesize"
    LLM = "llm"


class EventPayload(StrEnum):
    """The names of what an event carries."""

    QUERY_STR = "query_str"
    MESSAGES = "messages"
    RESPONSE = "response"
    NODES = "nodes"
    STAGE = "stage"
    SECONDS = "seconds"
    TIMINGS = "timings"
    FINISH_REASON = "finish_reason"
    PROMPT_TOKENS = "prompt_tokens"
    COMPLETION_TOKENS = "completion_tokens"
    MODEL = "model"
    EXCEPTION = "exception"


class BaseCallbackHandler(ABC):
    """Is told of what happens. What it raises reaches the caller.

    Args:
        event_starts_to_ignore: What it is not told the start of.
        event_ends_to_ignore: What it is not told the end of.
    """

    event_starts_to_ignore: tuple[CBEventType, ...] = ()
    event_ends_to_ignore: tuple[CBEventType, ...] = ()

    def __init__(
        self,
        event_starts_to_ignore: Sequence[CBEventType] = (),
        event_ends_to_ignore: Sequence[CBEventType] = (),
    ) -> None:
        self.event_starts_to_ignore = tuple(event_starts_to_ignore)
        self.event_ends_to_ignore = tuple(event_ends_to_ignore)

    @abstractmethod
    def on_event_start(
        self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str, parent_id: str
    ) -> object:
        """Take note that something starts, as a part of `parent_id` if that is not empty."""

    @abstractmethod
    def on_event_end(self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str) -> object:
        """Take note that it has ended; `payload` holds its `seconds`, and `exception` if it failed."""


class CallbackManager:
    """Hands events on to handlers.

    Args:
        handlers: Who is told, in this order.
    """

    def __init__(self, handlers: Sequence[BaseCallbackHandler] | None = None) -> None:
        self.handlers = list(handlers or ())

    def add_handler(self, handler: BaseCallbackHandler) -> None:
        """Tell `handler` too."""
        self.handlers.append(handler)

    def remove_handler(self, handler: BaseCallbackHandler) -> None:
        """Tell `handler` no more."""
        self.handlers.remove(handler)

    def start(self, event_type: CBEventType, payload: Mapping[str, Any], parent_id: str = "") -> str:
        """Tell that something starts and return the identity of the event."""
        import uuid

        event_id = uuid.uuid4().hex
        for handler in self.handlers:
            if event_type not in handler.event_starts_to_ignore:
                handler.on_event_start(event_type, payload, event_id, parent_id)
        return event_id

    def end(self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str) -> None:
        """Tell that it has ended."""
        for handler in self.handlers:
            if event_type not in handler.event_ends_to_ignore:
                handler.on_event_end(event_type, payload, event_id)


class PrintHandler(BaseCallbackHandler):
    """Prints a line for each thing that ends: what `verbose=True` shows."""

    def on_event_start(
        self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str, parent_id: str
    ) -> None:
        """Print nothing yet."""

    def on_event_end(self, event_type: CBEventType, payload: Mapping[str, Any], event_id: str) -> None:
        """Print what ended, how long it took, and its tokens."""
        tokens = ""
        if EventPayload.PROMPT_TOKENS in payload:
            read, written = payload[EventPayload.PROMPT_TOKENS], payload[EventPayload.COMPLETION_TOKENS]
            tokens = f", {read} tokens read, {written} written"
        error = payload.get(EventPayload.EXCEPTION)
        failed = f", failed: {str(error) or type(error).__name__}" if error is not None else ""
        name = payload.get(EventPayload.STAGE, event_type.value)
        print(f"{name}: {payload[EventPayload.SECONDS]:.2f} s{tokens}{failed}")
