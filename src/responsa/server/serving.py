"""The service's process: an address, uvicorn on it, and an orderly end."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable
from typing import Final

import uvicorn

from responsa.schema.errors import InvalidOption

from .app import create_app
from .binding import check_binding
from .operation.draining import DrainingServer
from .operation.logs import logging_to_stderr
from .operation.stalled import watched_connections
from .service import Service

# New objects after which the collector of cycles looks for those that are left over; Python's own 700 are made by a
# few requests.
_NEW_OBJECTS: Final = 50_000


def serve(service: Service, *, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve until the process is told to end (SIGINT, SIGTERM).

    Args:
        service: The service.
        on_ready: Told the service's address once it listens.

    Raises:
        UnsafeBinding: No key is to be asked for on an address that others reach.
        KeyNeeded: There is no key, on an address that others reach.
        InvalidOption: The address cannot be listened at.
    """
    settings = service.settings
    check_binding(settings, has_keys=service.keys.any_valid())
    listener = _listening(settings.host, settings.port)
    with listener:
        if on_ready is not None:
            on_ready(_address(settings.host, listener.getsockname()[1]))
        with logging_to_stderr(settings):
            server = DrainingServer(server_config(service), service.runs, settings.shutdown_seconds)
            _spare_the_collector()
            server.run([listener])


def server_config(service: Service) -> uvicorn.Config:
    """Return how uvicorn serves the service."""
    return uvicorn.Config(
        create_app(service),
        loop="asyncio",  # uvloop takes as much time a token
        log_config=None,  # the program that embeds it says where its log goes
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=watched_connections(service.settings.stalled_seconds),
    )


def _spare_the_collector() -> None:
    """Let the collector of cycles go through less, and more seldom: all streams wait while it does."""
    gc.collect()
    gc.freeze()  # what is loaded stays as long as the process
    gc.set_threshold(_NEW_OBJECTS)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=2048)
    except OSError as error:
        raise InvalidOption("host and port", f"{host}:{port}", f"a free address ({error.strerror})") from error


def _address(host: str, port: int) -> str:
    shown = f"[{host.strip('[]')}]" if ":" in host else host
    return f"http://{shown}:{port}"
