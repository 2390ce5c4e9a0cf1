"""The client against a server on loopback that does what real ones do rarely."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import aclosing, closing
from typing import Any

import httpx2
import pytest
from tests.faults import (
    DONE,
    PATIENCE,
    STREAM_END,
    STREAM_HEAD,
    UNCHUNKED_HEAD,
    Close,
    FaultServer,
    Hang,
    Reset,
    UntilClientCloses,
    WaitFor,
    chunk,
    event,
    reply,
    stream_of,
)

from responsa.http.client import HTTPClient
from responsa.http.messages import Batch, Exchange, Reply, Request
from responsa.http.per_loop import PerLoop
from responsa.http.timeouts import Timeout
from responsa.schema.errors import (
    BadResponse,
    InvalidOption,
    RequestRefused,
    ServerError,
    ServerTimeout,
    ServerUnreachable,
)

ROUTE = "POST /v1/x"

Ask = Callable[[HTTPClient, Request], Reply]
ReadStream = Callable[[HTTPClient, Request], list[bytes]]


def one(request: Request) -> Exchange[Reply]:
    return (yield request)


def ask(client: HTTPClient, request: Request) -> Reply:
    with closing(client):
        return client.run(one(request))


def aask(client: HTTPClient, request: Request) -> Reply:
    return asyncio.run(client.arun(one(request)))


def read(client: HTTPClient, request: Request) -> list[bytes]:
    with closing(client):
        return [data for some in client.stream(request) for data in some]


def aread(client: HTTPClient, request: Request) -> list[bytes]:
    async def main() -> list[bytes]:
        return [data async for some in client.astream(request) for data in some]

    return asyncio.run(main())


both = pytest.mark.parametrize("ask", [ask, aask], ids=["sync", "async"])
both_streams = pytest.mark.parametrize("read", [read, aread], ids=["sync", "async"])


def client_of(server: FaultServer, **options: Any) -> HTTPClient:
    return HTTPClient(server.url, **{"timeout": PATIENCE, "max_retries": 0, **options})


@both
def test_a_request_carries_its_body_key_and_headers(faults: FaultServer, ask: Ask) -> None:
    faults.on(ROUTE, reply({"ok": True}))
    client = client_of(faults, api_key="secret", default_headers={"X-Team": "a"})
    assert ask(client, client.post("/x", {"text": "你好"})).object() == {"ok": True}
    (got,) = faults.received
    assert got.json == {"text": "你好"}
    assert got.headers["authorization"] == "Bearer secret"
    assert got.headers["x-team"] == "a"


@both
def test_text_that_has_no_utf8_form_is_still_sent(faults: FaultServer, ask: Ask) -> None:
    faults.on(ROUTE, reply({}))
    client = client_of(faults)
    ask(client, client.post("/x", {"text": "a\ud800b"}))
    assert faults.received[0].json == {"text": "a?b"}


@both
def test_nothing_listening_is_unreachable(ask: Ask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    client = HTTPClient(f"http://127.0.0.1:{port}/v1", max_retries=0, timeout=PATIENCE)
    with pytest.raises(ServerUnreachable) as caught:
        ask(client, client.get("/models"))
    assert str(port) in caught.value.url


@both
@pytest.mark.parametrize("end", [Close(), Reset()], ids=["closed", "reset"])
def test_a_connection_dropped_before_the_answer_is_tried_again(faults: FaultServer, ask: Ask, end: Any) -> None:
    faults.on(ROUTE, [end], reply({"ok": 1}))
    client = client_of(faults, max_retries=1)
    assert ask(client, client.post("/x", {})).object() == {"ok": 1}
    assert faults.count(ROUTE) == 2


@both
@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ([Close()], ServerUnreachable),
        ([reply({}, Content_Length="100"), Close()], BadResponse),
        ([b"SSH-2.0-OpenSSH_9.6\r\n\r\n", Close()], BadResponse),
        ([reply(b"\xff\xfe{")], BadResponse),
        ([reply(b"<html>hello</html>", Content_Type="text/html")], BadResponse),
        ([reply([1])], BadResponse),
        ([reply(b"[" * 200_000)], BadResponse),
        ([reply(b"", 302, Location="/elsewhere")], RequestRefused),
    ],
)
def test_nonsense_is_one_of_the_packages_errors(
    faults: FaultServer, ask: Ask, script: list[Any], kind: type[ServerError]
) -> None:
    faults.on(ROUTE, script)
    client = client_of(faults)
    with pytest.raises(kind):
        ask(client, client.post("/x", {})).object()


@both
def test_a_silent_server_is_given_up_after_the_limit(faults: FaultServer, ask: Ask) -> None:
    faults.on(ROUTE, [Hang()])
    client = client_of(faults, timeout=Timeout(silence=0.05))
    with pytest.raises(ServerTimeout):
        ask(client, client.post("/x", {}))


class Drip:
    """A byte at a time, again and again, for as long as anyone listens."""

    def __init__(self, first: bytes, byte: bytes) -> None:
        self.first = first
        self.byte = byte

    def __iter__(self) -> Iterator[bytes]:
        yield self.first
        while True:
            time.sleep(0.02)
            yield self.byte


HEADERS_DRIP = Drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")
BODY_DRIPS = Drip(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", b" ")


@both
@pytest.mark.parametrize("dripping", [HEADERS_DRIP, BODY_DRIPS], ids=["headers", "body"])
def test_a_server_that_sends_a_byte_now_and_then_does_not_hold_a_call_beyond_its_time(
    faults: FaultServer, ask: Ask, dripping: Drip
) -> None:
    faults.on(ROUTE, dripping)
    client = client_of(faults, timeout=Timeout(total=0.3, silence=PATIENCE))
    with pytest.raises(ServerTimeout) as caught:
        ask(client, client.post("/x", {}))
    assert (caught.value.seconds, caught.value.silent) == (0.3, False)


@both_streams
def test_headers_of_a_stream_that_drip_do_not_hold_a_call_beyond_its_time(
    faults: FaultServer, read: ReadStream
) -> None:
    faults.on(ROUTE, HEADERS_DRIP)
    client = client_of(faults, timeout=Timeout(total=0.3, silence=PATIENCE))
    with pytest.raises(ServerTimeout):
        read(client, client.post("/x", {}))


@both
def test_a_request_is_sent_at_most_max_retries_and_one_times(faults: FaultServer, ask: Ask) -> None:
    faults.on(ROUTE, reply({"error": {"message": "busy"}}, 503, Retry_After="0"))
    client = client_of(faults, max_retries=4)
    with pytest.raises(RequestRefused) as caught:
        ask(client, client.post("/x", {}))
    assert (faults.count(ROUTE), caught.value.status) == (5, 503)


@both
def test_a_loading_server_is_waited_for(faults: FaultServer, ask: Ask) -> None:
    loading = reply({"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}}, 503)
    faults.on(ROUTE, loading, reply({"ok": 1})).on("GET /health", loading, reply({"status": "ok"}))
    client = client_of(faults, max_retries=1)
    assert ask(client, client.post("/x", {})).object() == {"ok": 1}
    assert (faults.count(ROUTE), faults.count("GET /health")) == (2, 2)


@both
def test_a_batch_keeps_its_order_and_its_failures_apart(faults: FaultServer, ask: Ask) -> None:
    for number in range(5):
        faults.on(f"POST /v1/{number}", reply({"n": number}) if number != 3 else reply({}, 400))
    client = client_of(faults)
    requests = [client.post(f"/{number}", {}) for number in range(5)]

    def batch() -> Exchange[list[Any]]:
        return (yield Batch(requests, 2))

    async def main() -> list[Any]:
        return await client.arun(batch())

    with closing(client):
        results = client.run(batch()) if ask is globals()["ask"] else asyncio.run(main())
    assert [result.json()["n"] if isinstance(result, Reply) else None for result in results] == [0, 1, 2, None, 4]
    assert isinstance(results[3], RequestRefused)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_batch_runs_as_many_at_a_time_as_it_may(faults: FaultServer, mode: str) -> None:
    release = threading.Event()
    faults.on(ROUTE, [WaitFor(release), reply({})])
    client = client_of(faults)

    def batch() -> Exchange[list[Any]]:
        return (yield Batch([client.post("/x", {}) for _ in range(6)], 3))

    def watch() -> None:
        while faults.count(ROUTE) < 3 and not stopped.wait(0.001):
            pass
        at_once.append(faults.count(ROUTE))
        release.set()

    at_once: list[int] = []
    stopped = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    with closing(client):
        results = client.run(batch()) if mode == "sync" else asyncio.run(client.arun(batch()))
    stopped.set()
    watcher.join()
    assert (len(results), at_once) == (6, [3])


def test_an_error_is_thrown_into_the_conversation(faults: FaultServer) -> None:
    faults.on(ROUTE, reply({}, 404)).on("POST /v1/y", reply({"ok": 1}))
    client = client_of(faults)

    def fallback() -> Generator[Request, Any, Any]:
        try:
            yield client.post("/x", {})
        except RequestRefused as refused:
            answer = yield client.post("/y", {})
            return refused.status, answer.object()

    with closing(client):
        assert client.run(fallback()) == (404, {"ok": 1})
    assert asyncio.run(client.arun(fallback())) == (404, {"ok": 1})


PAYLOADS = [{"n": 1}, {"text": "你好"}]


@both_streams
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ([stream_of(*PAYLOADS)], [b'{"n": 1}', '{"text": "你好"}'.encode(), b"[DONE]"]),
        ([stream_of(*PAYLOADS, done=False)], [b'{"n": 1}', '{"text": "你好"}'.encode()]),
        ([UNCHUNKED_HEAD + event({"n": 1}) + DONE, Close()], [b'{"n": 1}', b"[DONE]"]),
        ([UNCHUNKED_HEAD + b'data: {"n": 1}', Close()], [b'{"n": 1}']),
        ([reply({"whole": 1})], [b'{"whole": 1}']),
        ([STREAM_HEAD, *(chunk(bytes([byte])) for byte in event({"n": 1}) + DONE), STREAM_END],
         [b'{"n": 1}', b"[DONE]"]),
    ],
    ids=["ordinary", "no done", "unchunked", "no end", "plain json", "byte by byte"],
)  # fmt: skip
def test_a_stream_gives_its_events(
    faults: FaultServer, read: ReadStream, script: list[Any], expected: list[bytes]
) -> None:
    faults.on(ROUTE, script)
    client = client_of(faults)
    assert read(client, client.post("/x", {})) == expected


@both_streams
def test_a_stream_that_breaks_before_its_first_bytes_is_tried_again(faults: FaultServer, read: ReadStream) -> None:
    faults.on(ROUTE, [STREAM_HEAD, Reset()], stream_of({"n": 1}))
    client = client_of(faults, max_retries=1)
    assert read(client, client.post("/x", {})) == [b'{"n": 1}', b"[DONE]"]


@both_streams
@pytest.mark.parametrize("end", [Close(), Reset()], ids=["closed", "reset"])
def test_a_stream_that_breaks_later_is_not(faults: FaultServer, read: ReadStream, end: Any) -> None:
    faults.on(ROUTE, [STREAM_HEAD, chunk(event({"n": 1})), end])
    client = client_of(faults, max_retries=3)
    with pytest.raises(ServerError):
        read(client, client.post("/x", {}))
    assert faults.count(ROUTE) == 1


@both_streams
def test_silence_between_events_is_limited(faults: FaultServer, read: ReadStream) -> None:
    faults.on(ROUTE, [STREAM_HEAD, chunk(event({"n": 1})), Hang()])
    client = client_of(faults, timeout=Timeout(silence=0.05))
    with pytest.raises(ServerTimeout) as caught:
        read(client, client.post("/x", {}))
    assert caught.value.seconds <= 0.05


@both_streams
def test_the_whole_stream_is_limited_even_while_signs_of_life_come(faults: FaultServer, read: ReadStream) -> None:
    faults.on(ROUTE, [STREAM_HEAD, chunk(event({"n": 1})), Hang()])
    client = client_of(faults, timeout=Timeout(total=0.2, silence=PATIENCE))
    with pytest.raises(ServerTimeout) as caught:
        read(client, client.post("/x", {}))
    assert caught.value.seconds == 0.2


@both_streams
def test_a_connection_serves_the_next_request_after_a_whole_stream(faults: FaultServer, read: ReadStream) -> None:
    faults.on(ROUTE, stream_of({"n": 1}))
    client = client_of(faults)

    async def twice() -> None:
        for _ in range(2):
            async with aclosing(client.astream(client.post("/x", {}))) as events:
                async for _ in events:
                    pass

    if read is aread:
        asyncio.run(twice())
    else:
        with closing(client):
            for _ in range(2):
                list(client.stream(client.post("/x", {})))
    assert [request.connection for request in faults.received] == [1, 1]


@both_streams
def test_a_server_that_never_ends_the_reply_after_done_does_not_hold_the_caller(
    faults: FaultServer, read: ReadStream
) -> None:
    faults.on(ROUTE, [STREAM_HEAD, chunk(event({"n": 1}) + DONE), Hang()])
    client = client_of(faults)
    assert read(client, client.post("/x", {})) == [b'{"n": 1}', b"[DONE]"]


def test_closing_a_stream_closes_the_connection(faults: FaultServer) -> None:
    closed = threading.Event()
    faults.on(ROUTE, [STREAM_HEAD, chunk(event({"n": 1})), UntilClientCloses(closed)])
    client = client_of(faults)
    with closing(client):
        events = client.stream(client.post("/x", {}))
        assert next(events) == [b'{"n": 1}']
        events.close()
        assert closed.wait(PATIENCE)


def test_closing_an_asynchronous_stream_closes_the_connection(faults: FaultServer) -> None:
    closed = threading.Event()
    faults.on(ROUTE, [STREAM_HEAD, chunk(event({"n": 1})), UntilClientCloses(closed)])
    client = client_of(faults)

    async def main() -> bool:
        events = client.astream(client.post("/x", {}))
        assert await anext(events) == [b'{"n": 1}']
        await events.aclose()
        return await asyncio.to_thread(closed.wait, PATIENCE)

    assert asyncio.run(main())


def test_cancelling_a_task_that_waits_for_the_first_byte_closes_the_connection(faults: FaultServer) -> None:
    closed = threading.Event()
    faults.on(ROUTE, [UntilClientCloses(closed)])
    client = client_of(faults)

    async def main() -> bool:
        task = asyncio.ensure_future(anext(client.astream(client.post("/x", {}))))
        while not faults.count(ROUTE):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.to_thread(closed.wait, PATIENCE)

    assert asyncio.run(main())


def test_one_client_serves_one_event_loop_after_another(faults: FaultServer) -> None:
    faults.on(ROUTE, reply({"ok": 1}))
    client = client_of(faults)
    for _ in range(3):
        assert asyncio.run(client.arun(one(client.post("/x", {})))).object() == {"ok": 1}
    gc.collect()  # a connection left open would be reported here
    assert len(faults.received) == 3


def test_an_asynchronous_client_closed_opens_again_when_used(faults: FaultServer) -> None:
    faults.on(ROUTE, reply({"ok": 1}))
    client = client_of(faults)

    async def main() -> None:
        await client.aclose()
        for _ in range(2):
            assert (await client.arun(one(client.post("/x", {})))).status == 200
            await client.aclose()

    asyncio.run(main())
    assert [request.connection for request in faults.received] == [1, 2]


def test_a_loop_that_was_closed_without_shutting_down_is_forgotten(faults: FaultServer) -> None:
    closed: list[int] = []

    async def close(value: int) -> None:
        closed.append(value)

    values = iter(range(9))
    per_loop = PerLoop(lambda: next(values), close)
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(per_loop.get()) == loop.run_until_complete(per_loop.get()) == 0
    loop.close()
    assert asyncio.run(per_loop.get()) == 1
    assert closed == [1]


@both
def test_an_endless_reply_is_cut_off(faults: FaultServer, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("responsa.http.wire.MAX_REPLY_BYTES", 10)
    faults.on(ROUTE, reply({"long": "x" * 100}))
    client = client_of(faults)
    with pytest.raises(BadResponse):
        ask(client, client.post("/x", {}))


def test_one_client_serves_two_event_loops_at_once(faults: FaultServer) -> None:
    faults.on(ROUTE, reply({"ok": 1}))
    client = client_of(faults)
    results: list[Any] = []

    async def several() -> None:
        for _ in range(3):
            results.append((await client.arun(one(client.post("/x", {})))).object())

    threads = [threading.Thread(target=lambda: asyncio.run(several())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{"ok": 1}] * 6


def test_a_closed_client_opens_again_when_used(faults: FaultServer) -> None:
    faults.on(ROUTE, reply({"ok": 1}))
    client = client_of(faults)
    for _ in range(2):
        assert client.run(one(client.post("/x", {}))).status == 200
        client.close()


def test_a_proxy_of_the_environment_does_not_get_what_is_meant_for_this_machine(
    faults: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults.on(ROUTE, reply({"ok": 1}))
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    client = client_of(faults)
    assert ask(client, client.post("/x", {})).object() == {"ok": 1}


def test_a_proxy_of_the_environment_gets_what_is_meant_for_another_machine(
    faults: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", faults.root)
    faults.on("POST http://models.example.org/v1/x", reply({"ok": 1}))
    for ask_it in (ask, aask):
        client = HTTPClient("http://models.example.org/v1", timeout=PATIENCE, max_retries=0)
        assert ask_it(client, client.post("/x", {})).object() == {"ok": 1}


@pytest.mark.parametrize(
    "address",
    ["", "127.0.0.1:8080", "ftp://host/v1", "http://", "http://user:pass@host/v1", "http://host/v1?x=1", "http://a b/"],
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidOption):
        HTTPClient(address)


@pytest.mark.parametrize("key", ["", "密钥", "a b", "a\nb"])
def test_a_key_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        HTTPClient("http://host/v1", api_key=key)
    assert not key or key not in str(caught.value)


def test_paths_start_at_the_base_or_at_the_root() -> None:
    client = HTTPClient("https://host:1/prefix/v1/")
    assert (client.url("/models"), client.url("//props")) == (
        "https://host:1/prefix/v1/models",
        "https://host:1/prefix/props",
    )


def test_a_server_over_tls_is_spoken_to_in_the_same_way() -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json={"at": str(request.url)}))
    client = HTTPClient("https://host/v1", transport=transport)
    assert ask(client, client.get("/models")).object() == {"at": "https://host/v1/models"}


def test_the_http_library_is_loaded_with_the_first_request_only() -> None:
    program = """
import sys
import responsa.embeddings.openai_like, responsa.llms.openai_like, responsa.rerank.openai_like
from responsa.llms.openai_like import OpenAILike
OpenAILike()
print([name for name in ("httpx2", "pydantic", "numpy") if name in sys.modules])
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
