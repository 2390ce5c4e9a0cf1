"""Blocking connections that do not outlive a call's deadline, however slowly a server sends its headers.

A limit of each read alone does not do that: a server that sends a byte now and then keeps within it for ever.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore2


class _Call(threading.local):
    """The call that a thread makes now."""

    until: float | None = None


_call = _Call()


@contextmanager
def bounded_until(moment: float) -> Iterator[None]:
    """Let no read of this thread outlive a moment, in monotonic seconds."""
    _call.until = moment
    try:
        yield
    finally:
        _call.until = None


class BoundedStream(httpcore2.NetworkStream):
    """A connection whose reads end by the deadline of the thread's call."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if _call.until is not None:
            left = _call.until - time.monotonic()
            if left <= 0:
                raise httpcore2.ReadTimeout("the call's time is up")
            timeout = left if timeout is None else min(timeout, left)
        return self._stream.read(max_bytes, timeout)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return BoundedStream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class BoundedBackend(httpcore2.SyncBackend):
    """Makes such connections."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        return BoundedStream(super().connect_tcp(host, port, timeout, local_address, socket_options))
