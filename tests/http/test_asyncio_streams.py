import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import httpx2
import pytest
import uvloop

from responsa.http.asyncio_streams import AsyncioStream
from responsa.http.client_factory import AsyncioTransport
from responsa.http.overflowing_pool import FULL
from responsa.http.wire import AsyncOpenStream

TLS = Path(__file__).parents[1] / "data" / "tls"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=4, keepalive_expiry=4.0)
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Run: TypeAlias = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs to the end on an event loop of one kind."""

    def running(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as runner:
            runner.run(main)

    return running


@asynccontextmanager
async def serving(answer: Answer, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Answer every request with `answer`; give the port."""
    tasks: set[asyncio.Task[None]] = set()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                await answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def read(client: httpx2.AsyncClient, url: str) -> tuple[AsyncioStream, bytes]:
    async with client.stream("GET", url) as response:
        stream = response.extensions["network_stream"]
        assert isinstance(stream, AsyncioStream)
        return stream, b"".join([content async for content in stream.chunks(response, 20.0)])


async def in_pieces(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for piece in (HEAD[:10], HEAD[10:] + b"3\r\nab", b"c\r\n4\r\nde", b"fg\r\n0\r\n\r\n"):
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(0)


def test_a_body_is_read_past_the_library_and_its_connection_serves_again(run: Run) -> None:
    async def main() -> None:
        async with serving(in_pieces) as port, httpx2.AsyncClient(transport=AsyncioTransport(False, LIMITS)) as client:
            first, content = await read(client, f"http://127.0.0.1:{port}/")
            second, again = await read(client, f"http://127.0.0.1:{port}/")
            assert content == again == b"abcdefg"
            assert first is second

    run(main())


def test_it_is_the_same_over_tls_and_a_certificate_nobody_trusts_is_refused(run: Run) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    trusting = ssl.create_default_context(cafile=str(TLS / "certificate.pem"))

    async def main() -> None:
        async with serving(in_pieces, context) as port:
            async with httpx2.AsyncClient(transport=AsyncioTransport(trusting, LIMITS)) as client:
                _, content = await read(client, f"https://localhost:{port}/")
                assert content == b"abcdefg"
            async with httpx2.AsyncClient(transport=AsyncioTransport(ssl.create_default_context(), LIMITS)) as client:
                with pytest.raises(httpx2.ConnectError, match="certificate"):
                    await client.get(f"https://localhost:{port}/")

    run(main())


def test_a_server_that_sends_faster_than_is_read_is_made_to_wait(run: Run) -> None:
    sent = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(HEAD)
        while True:
            writer.write(b"10000\r\n" + bytes(0x10000) + b"\r\n")
            await writer.drain()
            sent += 0x10000

    async def settled() -> int:
        before = -1
        while before != sent:
            before = sent
            for _ in range(50):
                await asyncio.sleep(0.002)
        return sent

    async def main() -> None:
        async with (
            serving(endless) as port,
            httpx2.AsyncClient(transport=AsyncioTransport(False, LIMITS)) as client,
            client.stream("GET", f"http://127.0.0.1:{port}/") as response,
        ):
            stream = response.extensions["network_stream"]
            waiting = await settled()
            assert waiting < 32_000_000  # what the sockets and the reader hold; the server would send for ever
            taken = 0
            async for content in stream.chunks(response, 20.0):
                taken += len(content)
                if taken > waiting + 1_000_000:
                    break

    run(main())


def test_more_requests_at_once_than_a_pool_has_connections_go_through_the_next_and_few_stay_open(run: Run) -> None:
    together = FULL + 2
    arrived = asyncio.Event()
    ended = asyncio.Event()
    open_now = 0
    waiting = 0

    async def held(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now, waiting
        open_now += 1
        waiting += 1
        if waiting == together:
            arrived.set()
        await arrived.wait()
        writer.write(HEAD + b"2\r\nok\r\n0\r\n\r\n")
        await writer.drain()
        try:
            await reader.read()
        finally:
            open_now -= 1
            ended.set()

    async def main() -> None:
        async with serving(held) as port, httpx2.AsyncClient(transport=AsyncioTransport(False, LIMITS)) as client:
            url = f"http://127.0.0.1:{port}/"
            replies = await asyncio.gather(*(client.get(url) for _ in range(together)))
            assert [reply.content for reply in replies] == [b"ok"] * together
            while open_now > 4:  # what LIMITS keeps idle
                ended.clear()
                await asyncio.wait_for(ended.wait(), 60)
            assert open_now == 4

    run(main())


@pytest.mark.parametrize(
    ("sent", "error"),
    [(b"zz\r\n", httpx2.RemoteProtocolError), (b"5\r\nhel", httpx2.RemoteProtocolError)],
)
def test_a_broken_body_is_told(run: Run, sent: bytes, error: type[Exception]) -> None:
    async def broken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + sent)
        await writer.drain()
        raise ConnectionError

    async def main() -> None:
        async with serving(broken) as port, httpx2.AsyncClient(transport=AsyncioTransport(False, LIMITS)) as client:
            with pytest.raises(error):
                await read(client, f"http://127.0.0.1:{port}/")

    run(main())


def test_a_read_ends_when_its_time_is_up(run: Run) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"2\r\nok\r\n")
        await writer.drain()
        await reader.read()

    async def main() -> None:
        async with (
            serving(silent) as port,
            httpx2.AsyncClient(transport=AsyncioTransport(False, LIMITS)) as client,
            client.stream("GET", f"http://127.0.0.1:{port}/") as response,
        ):
            body = response.extensions["network_stream"].chunks(response, None)
            opened = AsyncOpenStream(response, body)
            assert await anext(body) == b"ok"
            opened.end_in(0.01)
            with pytest.raises(httpx2.RemoteProtocolError):
                await anext(body)
            await opened.aclose()

    run(main())
