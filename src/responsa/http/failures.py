"""What a failed request means: the error to raise, and whether a repetition can help."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final

from ..schema.errors import (
    AuthenticationFailed,
    ContextWindowExceeded,
    ModelNotFound,
    RateLimited,
    RequestRefused,
    ServerError,
    ServerLoading,
)
from .messages import excerpt_of
from .window_messages import is_input_too_large, window_overrun

# Messages are searched for what they mean, which takes longer than in proportion to their length, in characters.
_LONGEST_MESSAGE: Final = 2000
# A shorter key is a word like "none" that keeps nothing secret, in characters.
_SHORTEST_SECRET: Final = 8
RETRIED_STATUSES: Final = frozenset({408, 409, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that failed.

    Args:
        error: What to raise when there is no further try.
        retryable: Whether the same request may succeed later.
        retry_after: The wait the server asked for, in seconds.
        loading: Whether the server is there but still loads its model.
        at_once: Whether the first repetition needs no pause.
    """

    error: ServerError
    retryable: bool = False
    retry_after: float | None = None
    loading: bool = False
    at_once: bool = False


def error_object(body: bytes) -> tuple[dict[str, Any], str]:
    """Return the error object of a reply's body and its text, whatever form the server gives it."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}, excerpt_of(body)
    return error_fields(value)


def error_fields(value: Any) -> tuple[dict[str, Any], str]:
    """Return the error object inside a JSON value and its text."""
    if not isinstance(value, dict):
        return {}, str(value)[:500]
    inner = value.get("error", value)
    if isinstance(inner, str):
        return value, _in_one_line(inner)
    if not isinstance(inner, dict):
        inner = value
    text = inner.get("message", inner.get("detail", inner.get("error", "")))
    if not isinstance(text, str):
        text = json.dumps(text, ensure_ascii=False, default=str)
    return inner, _in_one_line(text)


def _in_one_line(text: str) -> str:
    return " ".join(text[:_LONGEST_MESSAGE].split())


def failure_of_reply(
    url: str, status: int, headers: Mapping[str, str], body: bytes, api_key: str | None = None
) -> Failure:
    """Classify a reply whose status is not a success; a key that the server repeats is not told."""
    error, message = error_object(body)
    if 300 <= status < 400:
        message = f"it redirects to {headers.get('location', 'nowhere')[:500]}; give that address"
    if api_key is not None and len(api_key) >= _SHORTEST_SECRET:
        message = message.replace(api_key, "(hidden)")
    return failure_of_error(url, status, error, message, headers)


def failure_of_error(
    url: str, status: int, error: Mapping[str, Any], message: str, headers: Mapping[str, str] | None = None
) -> Failure:
    """Classify an error object that came with `status`, or inside a stream."""
    overrun = window_overrun(error, message)
    if overrun is not None and status in (400, 413, 422, 500):
        return Failure(ContextWindowExceeded(url, *overrun))
    if status in (401, 403):
        return Failure(AuthenticationFailed(url))
    if status in (400, 404) and _names_model(error, message):
        return Failure(ModelNotFound(url, _quoted(message)))
    retry_after = _retry_after(headers or {})
    if status == 429:
        return Failure(RateLimited(url, retry_after), retryable=True, retry_after=retry_after)
    if status == 503 and "loading" in message.lower():
        return Failure(ServerLoading(url, 0.0), retryable=True, loading=True)
    # An embedding server refuses a text for its length with 500: the same text would fail again.
    retryable = status in RETRIED_STATUSES and not is_input_too_large(message)
    return Failure(RequestRefused(url, status, message), retryable=retryable, retry_after=retry_after)


def status_of_error(error: Mapping[str, Any]) -> int:
    """Return the HTTP status an error object inside a stream stands for, 500 where it does not say."""
    for name in ("code", "status", "status_code"):
        value = error.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and 400 <= value <= 599:
            return value
    return 500


def _names_model(error: Mapping[str, Any], message: str) -> bool:
    if error.get("code") == "model_not_found":
        return True
    lowered = message.lower()
    return "model" in lowered and any(sign in lowered for sign in ("not found", "does not exist", "not exist"))


def _quoted(message: str) -> str:
    for quote in "`'\"":
        parts = message.split(quote)
        if len(parts) >= 3 and parts[1]:
            return parts[1]
    return ""


def _retry_after(headers: Mapping[str, str]) -> float | None:
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _seconds(value)
    if seconds is not None or value is None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _seconds(value: str | None) -> float | None:
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
