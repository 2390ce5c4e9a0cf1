"""The check of a request's key, as a dependency of routes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from responsa.schema.errors import KeyNotAccepted, ScopeMissing

from ..service import service_of
from .keys import ApiKey, Scope
from .limits import Limit

# What asks or changes something. Reading, resuming and stopping an answer stay possible for a key that is at its limit.
_COUNTED: Final = frozenset(["POST", "PUT", "PATCH"])

BEARER: Final = HTTPBearer(auto_error=False, description="An API key made with `responsa keys add`.")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request.

    Args:
        key_id: The key's id; empty where no key is asked for.
        key: The key; None where no key is asked for.
    """

    key_id: str = ""
    key: ApiKey | None = None

    def allows(self, scope: Scope) -> bool:
        """Tell whether the caller may do what `scope` covers."""
        return self.key is None or self.key.allows(scope)


def caller_with(scope: Scope) -> Callable[..., Awaitable[Caller]]:
    """Return the dependency that lets in callers with a scope.

    Raises:
        KeyNotAccepted: No key, or none that is valid.
        ScopeMissing: The key is not made for it.
        TooManyRequests: The key has asked for as much as it may.
    """

    async def caller(
        request: Request, sent: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)]
    ) -> Caller:
        service = service_of(request)
        if service.settings.no_auth:
            return Caller()
        key = service.keys.verify(sent.credentials) if sent is not None else None
        if key is None:
            raise KeyNotAccepted
        if not key.allows(scope):
            raise ScopeMissing(scope.value)
        if request.method in _COUNTED:
            await service.limits.take(key.key_id, [Limit.parse(text) for text in key.limits])
        request.state.key_id = key.key_id  # for the log
        return Caller(key.key_id, key)

    return caller


Reader = Annotated[Caller, Depends(caller_with(Scope.READ))]
"""A route's parameter: the caller, who may ask and read."""
Editor = Annotated[Caller, Depends(caller_with(Scope.WRITE))]
"""A route's parameter: the caller, who may change what is answered from."""
