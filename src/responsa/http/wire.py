"""The shells that touch the network: steps of an attempt performed with httpx2, blocking and not."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator

import httpx2
from httpx2 import HTTPError as HTTPError

from ..schema.errors import BadResponse, ServerError, ServerTimeout, ServerUnreachable
from .asyncio_streams import AsyncioStream
from .attempts import Answer, Attempts, Send, Sleep
from .bounded import bounded_until
from .failures import Failure
from .timeouts import Deadline

# The largest honest reply is one of vectors: 2,048 texts (the most that OpenAI's interface takes) of 4,096 dimensions,
# each number written out in ten characters or so, are 90 MB.
MAX_REPLY_BYTES = 128 * 1024 * 1024
MAX_ERROR_BYTES = 256 * 1024
# A server that keeps the connection open after the last event is not waited for longer than this, in seconds.
DRAIN_SECONDS = 0.25


def perform(client: httpx2.Client, steps: Attempts) -> Answer:
    """Perform the steps of a request, blocking."""
    outcome: Answer | Failure | None = None
    while True:
        try:
            step = steps.send(outcome)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        if isinstance(step, Sleep):
            time.sleep(step.seconds)
            outcome = None
        else:
            outcome = _send(client, step)


async def aperform(client: httpx2.AsyncClient, steps: Attempts) -> Answer:
    """Perform the steps of a request without blocking."""
    outcome: Answer | Failure | None = None
    while True:
        try:
            step = steps.send(outcome)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        if isinstance(step, Sleep):
            await asyncio.sleep(step.seconds)
            outcome = None
        else:
            outcome = await _asend(client, step)


def _send(client: httpx2.Client, step: Send) -> Answer | Failure:
    try:
        with bounded_until(step.deadline.at):
            response = client.send(_request(client, step), stream=True)
        opened = False
        try:
            if step.streamed and response.is_success:
                body = response.iter_bytes() if "content-encoding" in response.headers else response.iter_raw()
                first = next(body, b"")
                opened = True
                return Answer(response.status_code, dict(response.headers), first, OpenStream(response, body))
            whole = bytearray()
            for chunk in response.iter_bytes():
                whole += chunk
                _check_size(step, response, whole)
                if step.deadline.passed:
                    return _time_is_up(step)
            return Answer(response.status_code, dict(response.headers), bytes(whole))
        finally:
            if not opened:
                response.close()
    except HTTPError as fault:
        return _failure(step, fault)


async def _asend(client: httpx2.AsyncClient, step: Send) -> Answer | Failure:
    try:
        async with asyncio.timeout(step.deadline.left):
            return await _aopened(client, step)
    except TimeoutError:
        return _time_is_up(step)


async def _aopened(client: httpx2.AsyncClient, step: Send) -> Answer | Failure:
    try:
        response = await client.send(_request(client, step), stream=True)
        opened = False
        try:
            if step.streamed and response.is_success:
                body = _abody(response, step.read)
                first = await anext(body, b"")
                opened = True
                return Answer(response.status_code, dict(response.headers), first, AsyncOpenStream(response, body))
            whole = bytearray()
            async for chunk in response.aiter_bytes():
                whole += chunk
                _check_size(step, response, whole)
            return Answer(response.status_code, dict(response.headers), bytes(whole))
        finally:
            if not opened:
                await response.aclose()
    except HTTPError as fault:
        return _failure(step, fault)


def _abody(response: httpx2.Response, silence: float) -> AsyncIterator[bytes]:
    if "content-encoding" in response.headers:
        return response.aiter_bytes()
    stream = response.extensions.get("network_stream")
    if isinstance(stream, AsyncioStream) and response.headers.get("transfer-encoding", "").lower() == "chunked":
        return stream.chunks(response, silence)
    return response.aiter_raw()


def _failure(step: Send, fault: HTTPError) -> Failure:
    if isinstance(fault, httpx2.ReadTimeout | httpx2.WriteTimeout) and step.deadline.passed:
        return _caused(_time_is_up(step), fault)
    return failure_of_fault(step.request.url, fault, step.read)


def _time_is_up(step: Send) -> Failure:
    return Failure(ServerTimeout(step.request.url, step.deadline.seconds))


def _request(client: httpx2.Client | httpx2.AsyncClient, step: Send) -> httpx2.Request:
    request = step.request
    return client.build_request(
        request.method,
        request.url,
        content=request.body,
        headers={"Content-Type": "application/json"} if request.body is not None else None,
        timeout=httpx2.Timeout(step.read, connect=step.connect),
    )


def _check_size(step: Send, response: httpx2.Response, body: bytearray) -> None:
    limit = MAX_REPLY_BYTES if response.is_success else MAX_ERROR_BYTES
    if len(body) > limit:
        raise BadResponse(step.request.url, f"a reply of more than {limit} bytes")


def failure_of_fault(url: str, fault: HTTPError, waited: float) -> Failure:
    """Classify a fault of the connection."""
    reason = str(fault) or type(fault).__name__
    error: ServerError
    if isinstance(fault, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        error = ServerUnreachable(url, reason)
        retryable = not isinstance(fault, httpx2.ProxyError)
        return _caused(Failure(error, retryable=retryable), fault)
    if isinstance(fault, httpx2.TimeoutException):
        return _caused(Failure(ServerTimeout(url, waited, silent=True)), fault)
    broken = isinstance(fault, httpx2.RemoteProtocolError)
    if isinstance(fault, httpx2.NetworkError) or (broken and "without sending a response" in reason):
        return _caused(Failure(ServerUnreachable(url, reason), retryable=True, at_once=True), fault)
    return _caused(Failure(BadResponse(url, reason), retryable=broken and "complete message body" in reason), fault)


def _caused(failure: Failure, fault: BaseException) -> Failure:
    failure.error.__cause__ = fault
    return failure


def broken_stream(url: str, fault: HTTPError, deadline: Deadline, silence: float) -> ServerError:
    """Return the error of a reply that broke after its first bytes."""
    if deadline.passed:
        return ServerTimeout(url, deadline.seconds)
    return failure_of_fault(url, fault, silence).error


def _shut(response: httpx2.Response) -> Callable[[], None]:
    """Return a function that ends the reply's connection, so that a read waiting on it ends."""
    stream = response.extensions.get("network_stream")
    if isinstance(stream, AsyncioStream):
        return stream.abort
    connection: socket.socket | None = None if stream is None else stream.get_extra_info("socket")

    def shut() -> None:
        if connection is not None:
            with contextlib.suppress(OSError):  # already closed: what was wanted
                connection.shutdown(socket.SHUT_RDWR)

    return shut


class OpenStream:
    """An open streamed reply, read blocking.

    Args:
        response: The reply.
        body: The rest of its body.
    """

    def __init__(self, response: httpx2.Response, body: Iterator[bytes]) -> None:
        self.body = body
        self._response = response
        self._shut = _shut(response)
        self._timer: threading.Timer | None = None

    def end_in(self, seconds: float) -> None:
        """End every read of the body after `seconds`."""
        self.disarm()
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        self._timer.start()

    def disarm(self) -> None:
        """Take the limit away."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def drain(self) -> None:
        """Read what is left after the last event, so that the connection can serve again."""
        self.end_in(DRAIN_SECONDS)
        with contextlib.suppress(HTTPError):  # the answer is complete; only the connection is lost
            for _ in self.body:
                pass

    def close(self) -> None:
        """Close the reply; unread, this closes the connection and so cancels the request."""
        self.disarm()
        self._response.close()


class AsyncOpenStream:
    """An open streamed reply, read without blocking.

    Args:
        response: The reply.
        body: The rest of its body.
    """

    def __init__(self, response: httpx2.Response, body: AsyncIterator[bytes]) -> None:
        self.body = body
        self._response = response
        self._shut = _shut(response)
        self._timer: asyncio.TimerHandle | None = None

    def end_in(self, seconds: float) -> None:
        """End every read of the body after `seconds`."""
        self.disarm()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._shut)

    def disarm(self) -> None:
        """Take the limit away."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def drain(self) -> None:
        """Read what is left after the last event, so that the connection can serve again."""
        self.end_in(DRAIN_SECONDS)
        with contextlib.suppress(HTTPError):  # the answer is complete; only the connection is lost
            async for _ in self.body:
                pass

    async def aclose(self) -> None:
        """Close the reply; unread, this closes the connection and so cancels the request."""
        self.disarm()
        await self._response.aclose()
