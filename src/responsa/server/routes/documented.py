"""The failures each route may reply with, for the OpenAPI document."""

from __future__ import annotations

from typing import Any, Final

from ..models.replies import ErrorReply

EVENT_STREAM: Final = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "description": "An event, with stream=true; see docs/http-api.md.",
            "properties": {
                "id": {"type": "string", "description": "Its number, to go on after with Last-Event-ID."},
                "event": {"type": "string", "description": "Its type."},
                "data": {"type": "string", "description": "Its JSON."},
            },
            "required": ["event", "data"],
        }
    }
}
_MEANINGS: Final = {
    401: "No key, or one that is not accepted.",
    403: "The key, or the page the request comes from, may not do that.",
    404: "There is no such thing.",
    409: "It cannot be done now.",
    413: "The body is too large.",
    422: "The request cannot be done as it was asked.",
    429: "The key has asked for too much; see Retry-After.",
    500: "The service failed.",
    502: "The model server failed.",
    503: "Too many wait, the service ends, or the model server is not ready; see Retry-After.",
    504: "The model server was silent for too long.",
}


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the documentation of failures: those of every route, and `statuses`."""
    return {
        status: {"model": ErrorReply, "description": _MEANINGS[status]}
        for status in sorted({401, 403, 413, 422, 429, 500, 503, *statuses})
    }
