"""Scripted servers for the doctor: one that is as it should be, to be spoilt by a test."""

from __future__ import annotations

import threading
from typing import Any

from tests.faults import (
    DONE,
    STREAM_END,
    STREAM_HEAD,
    FaultServer,
    Script,
    WaitFor,
    chunk,
    delta,
    event,
    reply,
    stream_of,
)

MODELS = "GET /v1/models"
PROPS = "GET /props"
TEMPLATE = "POST /apply-template"
CHAT = "POST /v1/chat/completions"
COMPLETIONS = "POST /v1/completions"
EMBEDDINGS = "POST /v1/embeddings"

USAGE = {
    "choices": [],
    "usage": {"prompt_tokens": 200, "completion_tokens": 24, "prompt_tokens_details": {"cached_tokens": 0}},
    "timings": {"prompt_ms": 400.0, "predicted_ms": 800.0},
}
CACHED = {
    "choices": [],
    "usage": {"prompt_tokens": 200, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 190}},
}


class Ticks:
    """A clock that goes on by one second each time it is looked at, and says when it was looked at often enough."""

    def __init__(self, enough: int = 2) -> None:
        self.looked = 0
        self.reached = threading.Event()
        self._enough = enough

    def __call__(self) -> float:
        self.looked += 1
        if self.looked >= self._enough:
            self.reached.set()
        return float(self.looked)


def in_one_piece(*payloads: Any) -> bytes:
    """Return a stream whose events all come in one chunk."""
    return STREAM_HEAD + chunk(b"".join(map(event, payloads)) + DONE) + STREAM_END


def in_two_pieces(between: threading.Event, first: list[Any], rest: list[Any]) -> Script:
    """Return a stream that goes on when `between` is set."""
    return [
        STREAM_HEAD + chunk(b"".join(map(event, first))),
        WaitFor(between),
        chunk(b"".join(map(event, rest)) + DONE) + STREAM_END,
    ]


def models(*ids: str, **facts: Any) -> bytes:
    """Return the list of served models."""
    return reply({"data": [{"id": one, **facts} for one in ids]})


def props(**changes: Any) -> bytes:
    """Return what a llama-server says of itself."""
    said = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 2, "chat_template": "{{ messages }}"}
    return reply({**said, **changes})


def vectors(*vector: float) -> bytes:
    """Return one embedding."""
    return reply({"data": [{"index": 0, "embedding": list(vector)}]})


ONE = delta("one, ")
OTHERS = [delta("two, "), delta("three"), delta(reason="stop"), USAGE]
AGAIN = stream_of(delta("yes"), delta(reason="length"), CACHED)
OBJECT = stream_of(delta('{"colour": "red"}'), delta(reason="stop"), USAGE)
ECHO = stream_of({"choices": [{"index": 0, "text": "Blue.\nuser: Another?", "finish_reason": "stop"}]})
PROMPT = reply({"prompt": "<|system|>quartz<|user|>walnut<|assistant|>harbour<|user|>lantern<|assistant|>"})


def good_chat_server(faults: FaultServer, clock: Ticks) -> None:
    """Script a llama-server without fault; its first answer comes in two pieces by `clock`."""
    faults.on(MODELS, models("m")).on(PROPS, props()).on(TEMPLATE, PROMPT)
    faults.on(CHAT, in_two_pieces(clock.reached, [ONE], OTHERS), AGAIN, OBJECT)
    faults.on(COMPLETIONS, ECHO)
