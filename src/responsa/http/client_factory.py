"""The HTTP library's clients of one server, on connections of our own where no proxy stands between."""

from __future__ import annotations

import ssl
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2

from .asyncio_streams import AsyncioBackend
from .bounded import BoundedBackend
from .overflowing_pool import OverflowingPool


class BoundedTransport(httpx2.HTTPTransport):
    """A transport whose connections do not outlive a call's deadline.

    Args:
        verify: How certificates are checked.
        limits: Connections at once, and kept.
    """

    def __init__(self, verify: ssl.SSLContext | bool, limits: httpx2.Limits) -> None:
        # In place of the library's constructor, which takes no backend.
        self._pool = httpcore2.ConnectionPool(network_backend=BoundedBackend(), **_pool_options(verify, limits))


class AsyncioTransport(httpx2.AsyncHTTPTransport):
    """A transport whose connections are asyncio's own.

    Args:
        verify: How certificates are checked.
        limits: Connections at once, and kept.
    """

    def __init__(self, verify: ssl.SSLContext | bool, limits: httpx2.Limits) -> None:
        options = _pool_options(verify, limits)

        def pool(idle: int | None) -> httpcore2.AsyncConnectionPool:
            kept = {**options, "max_keepalive_connections": idle}
            return httpcore2.AsyncConnectionPool(network_backend=AsyncioBackend(), **kept)

        # In place of the library's constructor, which takes no backend.
        self._pool = OverflowingPool(pool, idle=limits.max_keepalive_connections)  # type: ignore[assignment]


class ClientFactory:
    """Makes the clients of one server, blocking and for each event loop, with the same settings.

    Args:
        headers: Headers of every request.
        transport: A transport to use instead of the network.
        base: The server's address.
        trust_env: Whether proxies and certificates named in the environment are used.
        is_tls: Whether the server is spoken to over TLS.
        idle: Connections kept while nothing is asked.
    """

    def __init__(
        self, headers: dict[str, str], transport: Any, *, base: str, trust_env: bool, is_tls: bool, idle: int
    ) -> None:
        self._direct = transport is None and not (trust_env and _goes_through_a_proxy(base))
        self._settings: dict[str, Any] = {
            "headers": headers,
            "transport": transport,
            "trust_env": trust_env,
            # Reading the certificates takes a fifth of a second: once, and not where there is nothing to verify.
            "verify": httpx2.create_ssl_context(trust_env=trust_env) if is_tls else False,
            # Idle connections are dropped before a server drops them (llama-server: after 5 s), so none is found dead.
            "limits": httpx2.Limits(max_connections=None, max_keepalive_connections=idle, keepalive_expiry=4.0),
        }

    def blocking(self) -> httpx2.Client:
        """Make the client of blocking calls."""
        if self._direct:
            transport = BoundedTransport(self._settings["verify"], self._settings["limits"])
            return httpx2.Client(**{**self._settings, "transport": transport})
        return httpx2.Client(**self._settings)

    def asynchronous(self) -> httpx2.AsyncClient:
        """Make the client of one event loop."""
        if self._direct:
            transport = AsyncioTransport(self._settings["verify"], self._settings["limits"])
            return httpx2.AsyncClient(**{**self._settings, "transport": transport})
        return httpx2.AsyncClient(**self._settings)


def _pool_options(verify: ssl.SSLContext | bool, limits: httpx2.Limits) -> dict[str, Any]:
    return {
        "ssl_context": verify if isinstance(verify, ssl.SSLContext) else None,
        "max_connections": limits.max_connections,
        "max_keepalive_connections": limits.max_keepalive_connections,
        "keepalive_expiry": limits.keepalive_expiry,
    }


def _goes_through_a_proxy(url: str) -> bool:
    """Tell whether the environment names a proxy for an address."""
    place = urlsplit(url)
    proxies = getproxies()
    return bool({place.scheme, "all"} & proxies.keys()) and not proxy_bypass(place.hostname or "")
