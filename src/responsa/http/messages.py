"""A request as it is sent and a reply as it came, free of any HTTP library."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from ..schema.errors import BadResponse, ServerError
from ..schema.excerpts import excerpt

LARGEST_COUNT: Final = 10**12
"""The largest number taken from a server: what is larger counts nothing, and may be no number to calculate with."""


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to a model server.

    Args:
        method: "GET" or "POST".
        url: The whole address.
        body: The JSON body, encoded.
        max_retries: Overrides the client's number of retries.
        total: Overrides the client's time for the whole call, in seconds.
    """

    method: str
    url: str
    body: bytes | None = None
    max_retries: int | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole successful reply."""

    url: str
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> Any:
        """Return the body read as JSON; raises `BadResponse` when it is not."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise BadResponse(self.url, f"not JSON: {excerpt_of(self.body)!r}") from error

    def object(self) -> dict[str, Any]:
        """Return the body read as a JSON object; raises `BadResponse` when it is not."""
        value = self.json()
        if not isinstance(value, dict):
            raise BadResponse(self.url, f"not a JSON object: {excerpt_of(self.body)!r}")
        return value


def encode_json(value: Any) -> bytes:
    """Return `value` as compact JSON in UTF-8; characters that UTF-8 has no form for become "?"."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def excerpt_of(body: bytes, characters: int = 200) -> str:
    """Return a body's beginning in one line, for an error message."""
    return excerpt(body[: 16 * characters].decode("utf-8", "replace"), characters)


@dataclass(frozen=True, slots=True)
class Batch:
    """Requests that may run together; each result is a reply or the error that ended it.

    Args:
        requests: What to send.
        workers: How many at a time.
    """

    requests: Sequence[Request]
    workers: int = 1


T = TypeVar("T")
Exchange: TypeAlias = Generator[Request | Batch, Any, T]
"""A conversation with a server without any I/O of its own.

It yields a `Request` and is sent its `Reply` (a `ServerError` is thrown into it), or yields a `Batch` and is sent a
list of `Reply | ServerError` in the same order.
"""

BatchResult: TypeAlias = Reply | ServerError
