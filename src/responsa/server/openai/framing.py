"""How a chat completion is streamed: chunks without a type, everything else in comments, `[DONE]` last."""

from __future__ import annotations

import json
from typing import Final

from responsa.schema.errors import ResponsaError, StreamTooSlow

from ..errors import error_body, status_of
from .errors import openai_error

CHUNK: Final = "chunk"


class ChunkFraming:
    """Writes events for clients that know chunks alone.

    Args:
        language: The language of messages, "en" or "zh".
    """

    def __init__(self, language: str) -> None:
        self._language = language

    def frame(self, number: int, name: str, data: str) -> str:
        if name == CHUNK:
            return f"data: {data}\n\n"
        if name == "error":
            return f"data: {_reshaped(data)}\n\n"
        if name == "done":
            return "data: [DONE]\n\n"
        return f": {name} {data}\n\n"

    def gap(self, count: int) -> str:
        error: ResponsaError = StreamTooSlow(count)
        body = openai_error(error_body(error, self._language), status_of(error))
        return f"data: {json.dumps({'error': body}, ensure_ascii=False)}\n\n"


def _reshaped(data: str) -> str:
    """Return an error of the service's own shape in OpenAI's; its status is no longer of use to anyone."""
    return json.dumps({"error": openai_error(json.loads(data)["error"], 500)}, ensure_ascii=False)
