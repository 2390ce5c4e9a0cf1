"""Whether the service's parts can be used: the model servers, what it keeps sessions and records in, each index."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from responsa.http.client import HTTPClient
from responsa.http.messages import Exchange
from responsa.schema.errors import PartSilent, ResponsaError

from .errors import error_body

if TYPE_CHECKING:
    from .service import Service

LOG: Final = logging.getLogger("responsa.server.readiness")

# How long a server may take to say that it is there, how long any part may, and how long it is believed, in seconds.
_PATIENCE: Final = 3.0
PART_PATIENCE: Final = 10.0
BELIEVED: Final = 1.0


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
        self._asked: dict[str, asyncio.Task[object]] = {}
        self._checks: list[Check] = []
        self._known_at = -BELIEVED

    async def checks(self) -> list[Check]:
        """Return what is known of every part now; what changed since the last time is in the log."""
        async with self._asking:
            if time.monotonic() - self._known_at >= BELIEVED:
                service = self._service
                parts: dict[str, Callable[[], Coroutine[Any, Any, object]]] = {
                    **{name: _alive(client) for name, client in self._clients.items()},
                    "sessions": service.sessions.check,
                    "records": service.records.check,
                    **{f"index:{name}": self._index(name) for name in service.indexes.names},
                }
                checks = list(await asyncio.gather(*(self._check(name, ask) for name, ask in parts.items())))
                _note_changes(self._checks, checks)
                self._checks, self._known_at = checks, time.monotonic()
        return self._checks

    async def aclose(self) -> None:
        """Close connections."""
        for task in self._asked.values():
            task.cancel()
        for client in self._clients.values():
            await client.aclose()

    async def _check(self, name: str, ask: Callable[[], Coroutine[Any, Any, object]]) -> Check:
        """Ask a part; one that was asked before and has not answered is not asked again."""
        task = self._asked.pop(name, None) or asyncio.ensure_future(ask())
        await asyncio.wait([task], timeout=PART_PATIENCE)
        if not task.done():
            self._asked[name] = task
            return Check(name, PartSilent(PART_PATIENCE))
        error = task.exception()
        if error is not None and not isinstance(error, ResponsaError):
            raise error
        return Check(name, error)

    def _index(self, name: str) -> Callable[[], Coroutine[Any, Any, object]]:
        async def ask() -> object:
            return await (await self._service.indexes.get(name)).store.acount()

        return ask


def _note_changes(before: Sequence[Check], now: Sequence[Check]) -> None:
    """Write to the log which parts can be used no longer, and which can again: replies leave out most of why."""
    known = {check.name: str(check.error or "") for check in before}
    for check in now:
        reason = str(check.error or "")
        if reason != known.get(check.name, ""):
            LOG.warning("%s: %s", check.name, reason or "ready again")


def _alive(client: HTTPClient) -> Callable[[], Coroutine[Any, Any, object]]:
    def exchange() -> Exchange[None]:
        yield client.get("/models", max_retries=0, total=_PATIENCE)

    return lambda: client.arun(exchange())
