"""Clients that stop reading: their connections are cut, and everything is as if they had hung up."""

from __future__ import annotations

import asyncio
import heapq
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.server.support import QUESTION, SteppedLLM, a_service, on_a_socket, parsed, text_of

from responsa.server.operation.stalled import StallWatch

STREAMED = {**QUESTION, "stream": True}
LONG = ["word " * 1000] * 60


@asynccontextmanager
async def a_silent_client(port: int | None, method: str, path: str, body: Any = None) -> AsyncIterator[socket.socket]:
    """A socket with little room, which has sent a request and read nothing."""
    content = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    request = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
    loop = asyncio.get_running_loop()
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await loop.sock_connect(client, ("127.0.0.1", port))
        await loop.sock_sendall(client, request)
        yield client


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.001)


async def rest_of(client: socket.socket) -> bytes:
    """What a socket still gets until the connection ends."""
    loop = asyncio.get_running_loop()
    got = b""
    try:
        async with asyncio.timeout(60):
            while data := await loop.sock_recv(client, 65_536):
                got += data
    except ConnectionError:
        pass
    return got


def cuts(caplog: pytest.LogCaptureFixture) -> int:
    return sum(record.getMessage().startswith("connection cut") for record in caplog.records)


@pytest.mark.parametrize("path", ["/v1/answer", "/v1/chat/completions"])
def test_a_client_that_stops_reading_counts_as_gone_and_the_model_is_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    async def scene() -> None:
        llm = SteppedLLM(LONG, context_window=200_000, num_output=100_000)
        service = a_service(tmp_path, llm, stalled_seconds=0.3, grace_seconds=0)
        body: Any = STREAMED
        if path != "/v1/answer":
            body = {"model": "generation", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
        async with (
            on_a_socket(service, send_buffer=4096) as client,
            a_silent_client(client.base_url.port, "POST", path, body) as silent,
        ):
            llm.allow(len(LONG) - 1)
            await asyncio.wait_for(llm.ended.wait(), 60)
            assert llm.closed == 1
            await until(lambda: service.runs.active == 0)
            got = await rest_of(silent)
            assert got.startswith(b"HTTP/1.1 200 OK")
            assert not got.endswith(b"0\r\n\r\n")
            assert (await client.get("/healthz")).status_code == 200
        assert cuts(caplog) == 1

    caplog.set_level("INFO", "responsa.server")
    asyncio.run(scene())


def test_the_answer_and_its_other_listeners_go_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        llm = SteppedLLM(LONG, context_window=200_000, num_output=100_000)
        service = a_service(tmp_path, llm, stalled_seconds=0.3, grace_seconds=0)
        async with on_a_socket(service, send_buffer=4096) as client:
            reading = asyncio.ensure_future(client.post("/v1/answer", json=STREAMED))
            await asyncio.wait_for(llm.begun.wait(), 60)
            [run] = service.runs.all()
            path = f"/v1/answers/{run.run_id}/events"
            async with a_silent_client(client.base_url.port, "GET", path):
                await until(lambda: len(run.log.listeners) == 2)
                llm.allow(len(LONG) - 1)
                await until(lambda: cuts(caplog) == 1)
                await until(lambda: len(run.log.listeners) == 1)
                assert llm.closed == 0
                llm.allow(1)
                events = parsed((await reading).text)
                assert (text_of(events), events[-1].name) == ("".join(LONG), "done")

    caplog.set_level("INFO", "responsa.server")
    asyncio.run(scene())


def test_any_reply_that_is_not_taken_is_given_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, stalled_seconds=0.3)
        async with (
            on_a_socket(service, send_buffer=4096) as client,
            a_silent_client(client.base_url.port, "GET", "/openapi.json") as silent,
        ):
            await until(lambda: cuts(caplog) == 1)
            whole = (await client.get("/openapi.json")).content
            assert len(await rest_of(silent)) < len(whole)

    caplog.set_level("INFO", "responsa.server")
    asyncio.run(scene())


class Hand:
    """A loop whose time passes by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[tuple[float, int, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, call: Callable[[], None]) -> asyncio.TimerHandle:
        heapq.heappush(self.timers, (when, len(self.timers), call))
        return asyncio.TimerHandle(when, call, (), self)  # type: ignore[arg-type]

    def get_debug(self) -> bool:
        return False

    def pass_to(self, second: float) -> None:
        while self.timers and self.timers[0][0] <= 100 + second:
            self.now, _, call = heapq.heappop(self.timers)
            call()
        self.now = 100 + second


@pytest.mark.parametrize(
    ("left", "cut_at"),
    [
        ([(0, 9)], 60),
        ([(0, 9), (1, 5)], 120),
        ([(0, 9), (1, 5), (61, 4), (119, 3)], 180),
        ([(0, 9), (50, 0)], None),
        ([(0, 9), (50, 0), (55, 9)], 115),
        ([(0, 9), (30, 0), (31, 9), (59, 0), (100, 9)], 160),
        ([(0, 9000), *((second, 9000 - second) for second in range(30, 3000, 30))], 3060),
    ],
    ids=[
        "nothing is taken",
        "something is taken first",
        "a little is taken each minute",
        "all is taken",
        "what waits anew has its own time",
        "the timer of earlier is another's",
        "a slow client is left alone",
    ],
)
def test_a_connection_is_cut_once_nothing_was_taken_for_a_minute(
    left: list[tuple[int, int]], cut_at: int | None
) -> None:
    loop, waiting, cut = Hand(), [0], []
    watch = StallWatch(60, lambda: waiting[0], lambda: cut.append(loop.now - 100), loop)  # type: ignore[arg-type]
    for second, count in left:
        loop.pass_to(second)
        before, waiting[0] = waiting[0], count
        if not before and count:
            watch.begin()
        elif not count:
            watch.end()
    loop.pass_to(100_000)
    assert cut == ([] if cut_at is None else [cut_at])
    assert not loop.timers
    watch.close()
