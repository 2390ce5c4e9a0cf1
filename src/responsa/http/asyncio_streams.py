"""Connections of one event loop whose streamed replies cost little a token.

The HTTP library reads a connection through four layers and sets a limit of time around each read: over 100 µs of
processor time a token, where a thousand streams of 20 tokens a second leave 50. These connections keep to asyncio
alone. The library still makes the requests and reads the heads of replies; the body of a streamed one is then read
here, and its end handed back, so that the connection can serve again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import ssl
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from typing import Any, Final

import httpcore2
import httpx2

from .chunked import ChunkedDecoder, NotChunked

_HEAD_END: Final = b"\r\n\r\n"
_LAST_CHUNK: Final = b"0\r\n\r\n"
_HIGH_WATER: Final = 256 * 1024
"""The bytes that wait to be read after which the server is made to wait."""
_READ_BYTES: Final = 16 * 1024
"""The most bytes read at once. Asyncio's own reads make room for 256 KiB each time, which takes 14 µs a token."""


class _Arrivals(asyncio.BufferedProtocol):
    """What has come over a connection and waits to be read."""

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(_READ_BYTES))
        self.pieces: deque[bytes] = deque()
        self.size = 0
        self.ended = False
        self.fault: BaseException | None = None
        self.transport: Any = None
        self._reader: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._timer: asyncio.TimerHandle | None = None
        self._until = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.pieces.append(bytes(self._buffer[:nbytes]))
        self.size += nbytes
        if self.size > _HIGH_WATER:
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self.ended = True
        self._wake()
        return False

    def connection_lost(self, exc: BaseException | None) -> None:
        self.ended, self.fault = True, exc
        self._writable.set()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._wake()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def take(self, silence: float | None) -> bytes:
        """Return the next piece, or nothing where the connection has ended.

        Raises:
            TimeoutError: Nothing came for `silence` seconds.
            OSError: The connection broke.
        """
        if not self.pieces and not self.ended:
            await self._arrival(silence)
        if self.pieces:
            piece = self.pieces.popleft()
            full = self.size > _HIGH_WATER
            self.size -= len(piece)
            if full and self.size <= _HIGH_WATER and not self.ended:
                self.transport.resume_reading()
            return piece
        if self.fault is not None:
            raise self.fault
        return b""

    def put_back(self, piece: bytes) -> None:
        """Make a piece the next one to be taken."""
        self.pieces.appendleft(piece)
        self.size += len(piece)

    async def writable(self) -> None:
        """Wait until what was written has gone out."""
        await self._writable.wait()

    async def _arrival(self, silence: float | None) -> None:
        loop = asyncio.get_running_loop()
        self._reader = loop.create_future()
        if silence is not None:
            # One timer for many reads, moved when it fires: one for each would cost as much as the read.
            self._until = loop.time() + silence
            if self._timer is None or self._timer.when() > self._until:
                self._set_timer(loop, self._until)
        try:
            await self._reader
        finally:
            self._reader = None

    def _set_timer(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(when, self._time_is_up, loop)

    def _time_is_up(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        if self._reader is None or self._reader.done():
            return
        if loop.time() < self._until:
            self._set_timer(loop, self._until)
        else:
            self._reader.set_exception(TimeoutError())

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)


class AsyncioStream(httpcore2.AsyncNetworkStream):
    """A connection of asyncio's own."""

    def __init__(self, arrivals: _Arrivals) -> None:
        self._arrivals = arrivals
        self._head: bytes | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        try:
            piece = await self._arrivals.take(timeout)
        except TimeoutError as error:
            raise httpcore2.ReadTimeout("nothing came") from error
        except OSError as error:
            raise httpcore2.ReadError(str(error)) from error
        head = self._head
        if head is not None:
            # The library gets a reply's head alone: what it has read of a body could not be taken from it.
            kept = len(head)
            head += piece
            end = head.find(_HEAD_END, max(0, kept - len(_HEAD_END)))
            self._head = head if end < 0 and piece else None
            if end >= 0 and end + len(_HEAD_END) < len(head):
                cut = end + len(_HEAD_END) - kept
                self._arrivals.put_back(piece[cut:])
                piece = piece[:cut]
        if len(piece) > max_bytes:
            self._arrivals.put_back(piece[max_bytes:])
            piece = piece[:max_bytes]
        return piece

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self._head = b""
        if self._arrivals.ended:
            raise httpcore2.WriteError("the server closed the connection")
        self._arrivals.transport.write(buffer)
        try:
            async with asyncio.timeout(timeout):
                await self._arrivals.writable()
        except TimeoutError as error:
            raise httpcore2.WriteTimeout("the server takes nothing") from error

    async def aclose(self) -> None:
        # Closing a request that is under way is what cancels it: what is still to be written is not waited for.
        self.abort()

    def abort(self) -> None:
        """Break the connection off; what waits for it is told that it has ended."""
        self._arrivals.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        arrivals = self._arrivals
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                arrivals.transport = await loop.start_tls(
                    arrivals.transport, arrivals, ssl_context, server_hostname=server_hostname
                )
        except TimeoutError as error:
            arrivals.transport.abort()
            raise httpcore2.ConnectTimeout("no TLS connection") from error
        except OSError as error:
            arrivals.transport.abort()
            raise httpcore2.ConnectError(str(error)) from error
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return self._arrivals.ended or bool(self._arrivals.pieces)
        if info == "client_addr":
            return self._arrivals.transport.get_extra_info("sockname")
        if info == "server_addr":
            return self._arrivals.transport.get_extra_info("peername")
        return self._arrivals.transport.get_extra_info(info)

    async def chunks(self, response: httpx2.Response, silence: float | None) -> AsyncGenerator[bytes, None]:
        """Yield the body of a reply that comes in chunks, past the library.

        Raises:
            httpx2.HTTPError: The connection broke, was silent, or sent something else than chunks.
        """
        reader = ChunkedDecoder()
        take = self._arrivals.take
        while not reader.done:
            try:
                piece = await take(silence)
            except TimeoutError as error:
                raise httpx2.ReadTimeout("nothing came", request=response.request) from error
            except OSError as error:
                raise httpx2.ReadError(str(error), request=response.request) from error
            if not piece:
                reason = "peer closed connection without sending complete message body (incomplete chunked read)"
                raise httpx2.RemoteProtocolError(reason, request=response.request)
            try:
                content = reader.feed(piece)
            except NotChunked as error:
                raise httpx2.RemoteProtocolError(str(error), request=response.request) from error
            if content:
                yield content
        self._arrivals.put_back(_LAST_CHUNK + reader.rest)
        async for _ in response.aiter_raw():  # the library sees the end, and keeps the connection
            pass


class AsyncioBackend(httpcore2.AsyncNetworkBackend):
    """Makes such connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        local = None if local_address is None else (local_address, 0)
        # Other loops than asyncio's own, such as uvloop's, try a name's addresses one after another.
        racing: dict[str, Any] = {"happy_eyeballs_delay": 0.25} if isinstance(loop, asyncio.BaseEventLoop) else {}
        try:
            async with asyncio.timeout(timeout):
                _, arrivals = await loop.create_connection(_Arrivals, host, port, local_addr=local, **racing)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(f"no connection within {timeout} s") from error
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else str(error)
            raise httpcore2.ConnectError(reason) from error
        connection = arrivals.transport.get_extra_info("socket")
        for option in socket_options or ():
            with contextlib.suppress(OSError):  # what the system does not know is no reason not to connect
                connection.setsockopt(*option)
        return AsyncioStream(arrivals)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
