"""Errors in OpenAI's shape, on the routes that have its names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

PATHS: Final = ("/v1/chat/completions", "/v1/models")

# Where OpenAI has a name of its own for it, that is what clients look for.
_CODES: Final = {
    "key_not_accepted": "invalid_api_key",
    "unknown_model": "model_not_found",
    "window_too_small": "context_length_exceeded",
    "context_window_exceeded": "context_length_exceeded",
    "too_many_requests": "rate_limit_exceeded",
}
_TYPES: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def speaks_openai(scope: Mapping[str, Any]) -> bool:
    """Tell whether a request came to one of the routes with OpenAI's names."""
    path = str(scope.get("path", ""))
    return path in PATHS or path.startswith(f"{PATHS[1]}/")


def openai_status(status: int) -> int:
    """Return the status OpenAI has for it: a request that cannot be done is a bad one."""
    return 400 if status == 422 else status


def openai_error(body: Mapping[str, Any], status: int) -> dict[str, Any]:
    """Return an error's body in OpenAI's shape, with its numbers beside.

    Args:
        body: The error as the service's other routes reply it.
        status: The reply's status, as those routes have it.
    """
    details = body["details"]
    faults = details.get("faults") or ()
    place, is_placed, _ = str(faults[0]).partition(": ") if faults else ("", "", "")
    return {
        "message": body["message"],
        "type": _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error"),
        "param": "model" if body["code"] == "unknown_model" else place if is_placed else None,
        "code": _CODES.get(body["code"], body["code"]),
        "details": details,
    }
