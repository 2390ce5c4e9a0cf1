"""Requests that a web page makes behind its reader's back: from another origin, or under a forged name."""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from responsa.schema.errors import OriginRefused

from ..errors import error_response


class OriginCheck:
    """Refuses requests of foreign pages, and those that reach the service by a name it does not go by.

    A page may send requests to this machine's own addresses, and a name it controls may point there; without keys,
    nothing else would stop it.

    Args:
        app: The application behind it.
        origins: Origins of pages that may call.
        hosts: Names the service goes by; empty takes any, where a key guards it.
    """

    def __init__(self, app: ASGIApp, origins: Collection[str], hosts: Collection[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            refused = self._refused(headers.get("origin"), headers.get("host", ""), scope.get("scheme", "http"))
            if refused is not None:
                await error_response(OriginRefused(refused), scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refused(self, origin: str | None, host: str, scheme: str) -> str | None:
        if self._hosts and _name(host) not in self._hosts:
            return host
        if origin is None or origin in self._origins or origin in (f"{scheme}://{host}", f"https://{host}"):
            return None
        return origin


def _name(host: str) -> str:
    """Return a host header's name without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
