"""Streams through what stands between: proxies that buffer, cut and delay, and clients that stop reading."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.proxy import Passing, a_proxy, at_once, cut_after, held_back, in_crumbs
from tests.server.support import QUESTION, SteppedLLM, a_service, events_of, on_a_socket, parsed, text_of

from responsa.server import Service
from responsa.testing import ScriptedLLM

STREAMED = {**QUESTION, "stream": True}
CHINESE = "该泵需要 ISO VG 46 机油。🛢️"


@asynccontextmanager
async def through(service: Service, passing: Passing) -> AsyncIterator[tuple[httpx2.AsyncClient, httpx2.AsyncClient]]:
    """A client behind a proxy, and one that is not."""
    async with (
        on_a_socket(service) as direct,
        a_proxy(direct.base_url.port or 0, passing) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
    ):
        yield client, direct


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_stream_that_is_cut_up_anywhere_says_the_same(tmp_path: Path, size: int) -> None:
    async def scene() -> None:
        async with through(a_service(tmp_path, ScriptedLLM(CHINESE)), in_crumbs(size)) as (client, _):
            events = parsed((await client.post("/v1/answer", json=STREAMED)).text)
            assert text_of(events) == CHINESE
            assert events[-1].data["answer"] == CHINESE

    asyncio.run(scene())


def test_a_stream_tells_proxies_not_to_keep_or_change_it(tmp_path: Path) -> None:
    async def scene() -> None:
        async with through(a_service(tmp_path), at_once) as (client, _):
            for path, body in [
                ("/v1/answer", STREAMED),
                (
                    "/v1/chat/completions",
                    {"model": "generation", "stream": True, "messages": [{"role": "user", "content": "Hi"}]},
                ),
            ]:
                reply = await client.post(path, json=body)
                assert reply.headers["x-accel-buffering"] == "no"
                assert "no-transform" in reply.headers["cache-control"]
                assert reply.headers["content-type"].startswith("text/event-stream")
                assert "content-length" not in reply.headers
                assert "content-encoding" not in reply.headers

    asyncio.run(scene())


def test_a_proxy_that_holds_everything_back_delays_the_answer_and_loses_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        gate = asyncio.Event()
        service = a_service(tmp_path, ScriptedLLM("word " * 3000, context_window=20_000, num_output=9000))
        async with through(service, held_back(gate)) as (client, _):
            asked = asyncio.ensure_future(client.post("/v1/answer", json=STREAMED))
            async with asyncio.timeout(60):
                while not (service.runs.all() and not service.runs.active):
                    await asyncio.sleep(0.001)
            gate.set()
            events = parsed((await asked).text)
            assert [event.id for event in events] == list(range(1, len(events) + 1))
            assert events[-1].data["answer"] == ("word " * 3000).strip()

    asyncio.run(scene())


def test_a_stream_that_a_proxy_cuts_is_gone_on_with_and_nothing_is_generated_again(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One ", "two ", "three."])
        service = a_service(tmp_path, llm, grace_seconds=3600)
        async with through(service, cut_after(b'{"text":"two "')) as (client, direct):
            llm.allow(2)
            read: list[Any] = []
            with pytest.raises(httpx2.TransportError):
                async with client.stream("POST", "/v1/answer", json=STREAMED) as reply:
                    answer_id = reply.headers["answer-id"]
                    async for event in events_of(reply):
                        read.append(event)
            assert text_of(read) == "One "  # the event that was cut through is none
            llm.allow()
            again = {"Last-Event-ID": str(read[-1].id)}
            read += parsed((await direct.get(f"/v1/answers/{answer_id}/events", headers=again)).text)
            assert text_of(read) == "One two three."
            assert [event.id for event in read] == list(range(1, len(read) + 1))
            assert len(llm.prompts) == 1

    asyncio.run(scene())


def test_a_proxy_that_cuts_a_chat_completion_stops_the_model(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        async with through(a_service(tmp_path, llm, grace_seconds=3600), cut_after(b'"One ')) as (client, _):
            llm.allow()
            body = {"model": "generation", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
            with pytest.raises(httpx2.TransportError):
                await client.post("/v1/chat/completions", json=body)
            await asyncio.wait_for(llm.ended.wait(), 60)
            assert llm.closed == 1

    asyncio.run(scene())


def buffered(service: Service) -> int:
    """The bytes of events the service holds for its answers."""
    return sum(run.log.size for run in service.runs.all())


@pytest.mark.parametrize("path", ["/v1/answer", "/v1/chat/completions"])
def test_clients_that_read_nothing_at_all_cost_bounded_memory_and_hold_up_nobody(tmp_path: Path, path: str) -> None:
    """The sockets are opened by hand and never read: no client library takes anything off them."""

    async def scene() -> None:
        llm = ScriptedLLM("word " * 20_000, context_window=200_000, num_output=60_000, slots=4)
        service = a_service(tmp_path, llm, max_event_bytes=50_000, grace_seconds=3600)
        body: Any = STREAMED
        if path != "/v1/answer":
            body = {"model": "generation", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        request = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
        async with on_a_socket(service) as client:
            silent = []
            for _ in range(3):
                one = socket.socket()
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                one.setblocking(False)
                await asyncio.get_running_loop().sock_connect(one, ("127.0.0.1", client.base_url.port))
                await asyncio.get_running_loop().sock_sendall(one, request)
                silent.append(one)
            async with asyncio.timeout(120):
                while len(service.runs.all()) < 3 or service.runs.active:
                    await asyncio.sleep(0.001)
            results = sum(len(run.result.encode()) for run in service.runs.all())
            assert buffered(service) <= 3 * 50_000 + results
            reply = await client.post("/v1/answer", json=QUESTION)
            assert reply.json()["outcome"] == "answered"
            for one in silent:
                one.close()

    asyncio.run(scene())
