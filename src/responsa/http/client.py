"""The client of one model server."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from ..schema.errors import InvalidOption, ServerError, ServerTimeout
from .address import checked_base, is_this_machine, request_headers
from .attempts import Answer, Attempts, attempts
from .messages import Batch, BatchResult, Exchange, Reply, Request, encode_json
from .per_loop import PerLoop
from .sse import DONE, PlainReader, SSEReader
from .timeouts import Deadline, Timeout

if TYPE_CHECKING:
    import httpx2

    from .client_factory import ClientFactory

T = TypeVar("T")

# A llama-server thread waits on each idle connection for seconds and it has few; a TLS hand-shake costs more than that.
IDLE_CONNECTIONS_PLAIN = 4
IDLE_CONNECTIONS_TLS = 32


class HTTPClient:
    """Sends requests to one OpenAI-compatible server, blocking and not.

    Blocking calls share one client, asynchronous ones have one for each event loop.

    Args:
        api_base: The server's address up to and with `/v1`.
        api_key: Sent as a bearer token; None sends none.
        timeout: Limits in seconds, see `Timeout`.
        max_retries: How often one request may be sent again.
        default_headers: Further headers of every request.
        transport: An httpx2 transport to use instead of the network, for tests.
    """

    def __init__(
        self,
        api_base: str,
        *,
        api_key: str | None = None,
        timeout: float | Timeout = 600.0,
        max_retries: int = 3,
        default_headers: Mapping[str, str] | None = None,
        transport: Any = None,
    ) -> None:
        self.base = checked_base(api_base)
        self.root = self.base.removesuffix("/v1")
        self.timeout = Timeout.of(timeout)
        if max_retries < 0:
            raise InvalidOption("max_retries", max_retries, "0 or more")
        self.max_retries = max_retries
        self._api_key = api_key
        self._headers = request_headers(api_key, default_headers)
        self._transport = transport
        self._lock = threading.Lock()
        self._made: ClientFactory | None = None
        self._sync: httpx2.Client | None = None
        self._async: PerLoop[httpx2.AsyncClient] = PerLoop(self._new_async, _aclose)

    def get(self, path: str, **limits: Any) -> Request:
        """Make a GET request of `path`, which starts at the base, or at the server's root if it starts with `//`."""
        return Request("GET", self.url(path), **limits)

    def post(self, path: str, body: Any, **limits: Any) -> Request:
        """Make a POST request of `path` with a JSON body."""
        return Request("POST", self.url(path), encode_json(body), **limits)

    def url(self, path: str) -> str:
        """Return the address of `path`, which starts at the base, or at the server's root if it starts with `//`."""
        return self.root + path[1:] if path.startswith("//") else self.base + path

    def run(self, exchange: Exchange[T], *, max_retries: int | None = None) -> T:
        """Carry out a conversation, blocking.

        Args:
            exchange: The conversation.
            max_retries: Overrides the client's number of retries.
        """
        result: Any = None
        error: ServerError | None = None
        while True:
            try:
                step = exchange.throw(error) if error is not None else exchange.send(result)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            result, error = None, None
            try:
                if isinstance(step, Request):
                    result = self._send(step, max_retries)
                else:
                    result = self._send_batch(step, max_retries)
            except ServerError as failed:
                error = failed

    async def arun(self, exchange: Exchange[T], *, max_retries: int | None = None) -> T:
        """Carry out a conversation without blocking; else as `run`."""
        result: Any = None
        error: ServerError | None = None
        while True:
            try:
                step = exchange.throw(error) if error is not None else exchange.send(result)
            except StopIteration as stop:
                return stop.value  # type: ignore[no-any-return]
            result, error = None, None
            try:
                if isinstance(step, Request):
                    result = await self._asend(step, max_retries)
                else:
                    result = await self._asend_batch(step, max_retries)
            except ServerError as failed:
                error = failed

    def stream(self, request: Request) -> Generator[list[bytes], None, None]:
        """Yield the data of a reply's events, some at a time, and at its end `[DONE]` if the server sent that.

        Closing the generator closes the connection, which cancels the request at the server. A reply that is plain
        JSON is yielded as one event.
        """
        from . import wire

        deadline = Deadline(request.total or self.timeout.total)
        answer = wire.perform(self._client(), self._attempts(request, deadline, streamed=True))
        reply: wire.OpenStream = answer.response
        reader = _reader(request, answer)
        try:
            if events := reader.feed(answer.body):
                yield events
            if not reader.done:
                reply.end_in(deadline.left)
                for chunk in reply.body:
                    if events := reader.feed(chunk):
                        yield events
                    if reader.done or monotonic() >= deadline.at:
                        break
            if reader.done:
                yield [DONE]
                reply.drain()
            else:
                _check(request, deadline)
                yield reader.close()
        except wire.HTTPError as fault:
            raise wire.broken_stream(request.url, fault, deadline, self.timeout.silence) from fault
        finally:
            reply.close()

    async def astream(self, request: Request) -> AsyncGenerator[list[bytes], None]:
        """Yield the data of a reply's events without blocking; else as `stream`."""
        from . import wire

        deadline = Deadline(request.total or self.timeout.total)
        client = await self._async.get()
        answer = await wire.aperform(client, self._attempts(request, deadline, streamed=True))
        reply: wire.AsyncOpenStream = answer.response
        reader = _reader(request, answer)
        try:
            if events := reader.feed(answer.body):
                yield events
            if not reader.done:
                reply.end_in(deadline.left)
                async for chunk in reply.body:
                    if events := reader.feed(chunk):
                        yield events
                    if reader.done or monotonic() >= deadline.at:
                        break
            if reader.done:
                yield [DONE]
                await reply.drain()
            else:
                _check(request, deadline)
                yield reader.close()
        except wire.HTTPError as fault:
            raise wire.broken_stream(request.url, fault, deadline, self.timeout.silence) from fault
        finally:
            await reply.aclose()

    def close(self) -> None:
        """Close the connections of blocking calls."""
        with self._lock:
            client, self._sync = self._sync, None
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._async.aclose()

    def _send(self, request: Request, max_retries: int | None) -> Reply:
        from . import wire

        deadline = Deadline(request.total or self.timeout.total)
        steps = self._attempts(request, deadline, max_retries=max_retries)
        return _reply(request, wire.perform(self._client(), steps))

    async def _asend(self, request: Request, max_retries: int | None) -> Reply:
        from . import wire

        deadline = Deadline(request.total or self.timeout.total)
        steps = self._attempts(request, deadline, max_retries=max_retries)
        return _reply(request, await wire.aperform(await self._async.get(), steps))

    def _send_batch(self, batch: Batch, max_retries: int | None) -> list[BatchResult]:
        def one(request: Request) -> BatchResult:
            try:
                return self._send(request, max_retries)
            except ServerError as error:
                return error

        if batch.workers <= 1 or len(batch.requests) <= 1:
            return [one(request) for request in batch.requests]
        with ThreadPoolExecutor(min(batch.workers, len(batch.requests)), thread_name_prefix="responsa-http") as pool:
            return list(pool.map(one, batch.requests))

    async def _asend_batch(self, batch: Batch, max_retries: int | None) -> list[BatchResult]:
        turns = asyncio.Semaphore(max(1, batch.workers))

        async def one(request: Request) -> BatchResult:
            async with turns:
                try:
                    return await self._asend(request, max_retries)
                except ServerError as error:
                    return error

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(request)) for request in batch.requests]
        return [task.result() for task in tasks]

    def _attempts(
        self, request: Request, deadline: Deadline, *, streamed: bool = False, max_retries: int | None = None
    ) -> Attempts:
        return attempts(
            request,
            streamed=streamed,
            timeout=self.timeout,
            deadline=deadline,
            max_retries=self.max_retries if max_retries is None else max_retries,
            health_url=self.root + "/health",
            api_key=self._api_key,
        )

    def _client(self) -> httpx2.Client:
        factory = self._factory()
        with self._lock:
            if self._sync is None:
                self._sync = factory.blocking()
                weakref.finalize(self, self._sync.close)
            return self._sync

    def _new_async(self) -> httpx2.AsyncClient:
        return self._factory().asynchronous()

    def _factory(self) -> ClientFactory:
        with self._lock:
            if self._made is None:
                from .client_factory import ClientFactory

                # A proxy set for the internet must not get what is meant for this machine.
                is_tls = self.base.startswith("https:")
                idle = IDLE_CONNECTIONS_TLS if is_tls else IDLE_CONNECTIONS_PLAIN
                self._made = ClientFactory(
                    self._headers,
                    self._transport,
                    base=self.base,
                    trust_env=not is_this_machine(self.base),
                    is_tls=is_tls,
                    idle=idle,
                )
            return self._made


async def _aclose(client: httpx2.AsyncClient) -> None:
    await client.aclose()


def _reply(request: Request, answer: Answer) -> Reply:
    return Reply(request.url, answer.status, answer.body, answer.headers)


def _reader(request: Request, answer: Answer) -> SSEReader | PlainReader:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    return PlainReader(request.url) if kind == "application/json" else SSEReader(request.url)


def _check(request: Request, deadline: Deadline) -> None:
    if deadline.passed:
        raise ServerTimeout(request.url, deadline.seconds)
