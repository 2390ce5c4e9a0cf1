"""The commonest wrong address: a server's root where its `/v1` is meant."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

from ..schema.errors import BadResponse, RequestRefused, ServerError, ServerUnreachable
from .client import HTTPClient
from .messages import Exchange, Reply, Request

T = TypeVar("T")

# Statuses of a server that has no such address.
NO_SUCH_ADDRESS = (404, 405, 501)
# A question about the server is answered at once or not at all, in seconds.
ASK_SECONDS = 30.0


def raise_if_v1_is_missing(client: HTTPClient, error: ServerError) -> Generator[Request, Reply, None]:
    """Raise `ServerUnreachable` with a hint if `error` came because the client's address lacks its `/v1`.

    Args:
        client: The server's client.
        error: What a request was answered with.
    """
    status = error.status if isinstance(error, RequestRefused) else None
    if client.base.endswith("/v1") or not (status in NO_SUCH_ADDRESS or isinstance(error, BadResponse)):
        return
    try:
        reply = yield Request("GET", client.base + "/v1/models", max_retries=0, total=ASK_SECONDS)
        found = isinstance(reply.object().get("data"), list)
    except ServerError:
        return
    if found:
        raise ServerUnreachable(client.base, "no such address", f"/v1 is missing: use {client.base}/v1") from error


def with_v1_hint(client: HTTPClient, exchange: Exchange[T]) -> Exchange[T]:
    """Carry out `exchange`, and where it fails for want of `/v1` raise the error that says so."""
    try:
        return (yield from exchange)
    except (RequestRefused, BadResponse) as error:
        yield from raise_if_v1_is_missing(client, error)
        raise
