"""Where the service may listen: never open to the network without a key."""

from __future__ import annotations

import ipaddress
from typing import Final

from responsa.schema.errors import KeyNeeded, UnsafeBinding

from .settings import ServerSettings

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Tell whether `host` is an address that only this machine reaches; a name other than localhost is not taken."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_binding(settings: ServerSettings, *, has_keys: bool) -> None:
    """Check that the service may listen where it is to.

    Args:
        settings: The settings.
        has_keys: Whether there is a key that is accepted.

    Raises:
        UnsafeBinding: No key is to be asked for on an address that others reach.
        KeyNeeded: There is no key, on an address that others reach.
    """
    if is_loopback(settings.host):
        return
    if settings.no_auth:
        raise UnsafeBinding(settings.host)
    if not has_keys:
        raise KeyNeeded(settings.host)
