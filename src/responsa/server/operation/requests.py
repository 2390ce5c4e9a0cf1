"""Each request: its id, its line in the log, its numbers."""

from __future__ import annotations

import logging
import re
import secrets
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .logs import REQUEST_ID
from .metrics import Metrics

CLIENT_GONE: Final = 499
"""What the log and the numbers call a request whose client left before it was replied to; nobody is sent it."""

LOG: Final = logging.getLogger("responsa.server.requests")
_GIVEN_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# Asked for every few seconds by what watches the service.
_QUIET: Final = frozenset(["/healthz", "/readyz", "/metrics"])
_KNOWN_METHODS: Final = frozenset(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])


class Requests:
    """Gives every request an id, which its reply and its log carry, and notes how it ended.

    The path of a request is never noted, only that of its route: what a client writes there is its own.

    Args:
        app: The application behind it.
        metrics: The numbers.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _id_of(scope)
        began = time.perf_counter()
        status, sent, is_whole = CLIENT_GONE, 0, False

        async def noted(message: Message) -> None:
            nonlocal status, sent, is_whole
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            elif message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
                is_whole = not message.get("more_body", False)
            await send(message)

        token = REQUEST_ID.set(request_id)
        try:
            await self._app(scope, receive, noted)
        except BaseException:
            status = 500 if status == CLIENT_GONE else status
            raise
        finally:
            seconds = time.perf_counter() - began
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"] in _KNOWN_METHODS else "other"
            self._metrics.request(route, method, status, seconds)
            fields = {
                "method": method,
                "route": route,
                "status": status,
                "seconds": round(seconds, 4),
                "bytes": sent,
                "whole": is_whole,
                "key": scope.get("state", {}).get("key_id") or None,
            }
            LOG.log(logging.DEBUG if route in _QUIET else logging.INFO, "request", extra={"fields": fields})
            REQUEST_ID.reset(token)


def _id_of(scope: Scope) -> str:
    """Return the id the client gave, so that its log and ours can be laid side by side; a new one if it is none."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _GIVEN_ID.fullmatch(value):
            return str(value, "ascii")
    return secrets.token_hex(8)
