"""Whether the service's parts can be used: the model server, the embedding server, each index."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from responsa.http.client import HTTPClient
from responsa.http.messages import Exchange
from responsa.schema.errors import ResponsaError

from .errors import error_body

if TYPE_CHECKING:
    from .service import Service

# How long a server may take to say that it is there, and how long that is believed, in seconds.
_PATIENCE: Final = 3.0
_BELIEVED: Final = 1.0


@dataclass(frozen=True, slots=True)
class Check:
    """One part.

    Args:
        name: What it is.
        error: What was wrong with it, or None.
    """

    name: str
    error: ResponsaError | None = None

    def shown(self, language: str) -> dict[str, Any]:
        """Return it as JSON values."""
        reason = "" if self.error is None else error_body(self.error, language)["message"]
        return {"name": self.name, "ready": self.error is None, "reason": reason}


class Readiness:
    """Asks the service's parts, at most once a second however many want to know.

    Args:
        service: The service.
        servers: The addresses of its model servers, by the name of the check, with the key of each.
    """

    def __init__(self, service: Service, servers: dict[str, tuple[str, str | None]]) -> None:
        self._service = service
        self._clients = {
            name: HTTPClient(base, api_key=key, timeout=_PATIENCE, max_retries=0)
            for name, (base, key) in servers.items()
        }
        self._asking = asyncio.Lock()
        self._checks: list[Check] = []
        self._known_at = -_BELIEVED

    async def checks(self) -> list[Check]:
        """Return what is known of every part now."""
        async with self._asking:
            if time.monotonic() - self._known_at >= _BELIEVED:
                parts: dict[str, Callable[[], Awaitable[object]]] = {
                    **{name: _alive(client) for name, client in self._clients.items()},
                    **{f"index:{name}": self._index(name) for name in self._service.indexes.names},
                }
                self._checks = list(await asyncio.gather(*(_check(name, ask) for name, ask in parts.items())))
                self._known_at = time.monotonic()
        return self._checks

    async def aclose(self) -> None:
        """Close connections."""
        for client in self._clients.values():
            await client.aclose()

    def _index(self, name: str) -> Callable[[], Awaitable[object]]:
        async def ask() -> object:
            return await (await self._service.indexes.get(name)).store.acount()

        return ask


async def _check(name: str, ask: Callable[[], Awaitable[object]]) -> Check:
    try:
        await ask()
    except ResponsaError as error:
        return Check(name, error)
    return Check(name)


def _alive(client: HTTPClient) -> Callable[[], Awaitable[object]]:
    def exchange() -> Exchange[None]:
        yield client.get("/models", max_retries=0, total=_PATIENCE)

    return lambda: client.arun(exchange())
