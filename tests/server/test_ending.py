"""The end of the service as a real process: told to end, and killed, in the middle of streams."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.faults import DONE, STREAM_END, STREAM_HEAD, FaultServer, UntilClientCloses, WaitFor, answer_of, chunk, delta
from tests.faults import event as sent
from tests.server.process import a_process, model_server
from tests.server.support import QUESTION, Sent, one_event, text_of

from responsa.server.security.keys import KeyStore

STREAMED = {**QUESTION, "stream": True}
BEGINNING = STREAM_HEAD + chunk(sent(delta("It needs ")))
REST = chunk(sent(delta("ISO VG 46 oil."))) + chunk(sent(delta(reason="stop"))) + chunk(DONE) + STREAM_END


def events(reply: httpx2.Response) -> Iterator[Sent]:
    buffer = ""
    for piece in reply.iter_text():
        buffer += piece
        *blocks, buffer = buffer.split("\n\n")
        yield from (found for block in blocks if (found := one_event(block)) is not None)


def until(stream: Iterator[Sent], name: str) -> list[Sent]:
    read = []
    for one in stream:
        read.append(one)
        if one.name == name:
            return read
    raise AssertionError(f"the stream ended without {name}")


def eventually(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def refuses_connections(url: str) -> bool:
    try:
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 5).close()
    except OSError:
        return True
    return False


def test_an_answer_under_way_finishes_after_the_service_is_told_to_end(tmp_path: Path, faults: FaultServer) -> None:
    go_on = threading.Event()
    model_server(faults, [BEGINNING, WaitFor(go_on), REST])
    with (
        a_process(tmp_path, faults.url, "--no-auth", shutdown_seconds=120) as served,
        httpx2.Client(base_url=served.url, timeout=60) as client,
        client.stream("POST", "/v1/answer", json=STREAMED) as reply,
    ):
        stream = events(reply)
        until(stream, "text_delta")
        served.process.send_signal(signal.SIGTERM)
        eventually(lambda: refuses_connections(served.url))
        go_on.set()
        rest = until(stream, "done")
        assert rest[-1].data["outcome"] == "answered"
        assert rest[-1].data["answer"] == "It needs ISO VG 46 oil."
        served.process.wait(60)
        assert [line["status"] for line in served.log if line["event"] == "request"] == [200]


def test_a_second_ctrl_c_ends_the_time_that_answers_under_way_are_given(tmp_path: Path, faults: FaultServer) -> None:
    closed = threading.Event()
    model_server(faults, [BEGINNING, UntilClientCloses(closed)])
    with (
        a_process(tmp_path, faults.url, "--no-auth", shutdown_seconds=3600) as served,
        httpx2.Client(base_url=served.url, timeout=60) as client,
        client.stream("POST", "/v1/answer", json=STREAMED) as reply,
    ):
        stream = events(reply)
        until(stream, "text_delta")
        served.process.send_signal(signal.SIGINT)
        eventually(lambda: refuses_connections(served.url))
        served.process.send_signal(signal.SIGINT)
        assert until(stream, "done")[-1].data["outcome"] == "interrupted"
        served.process.wait(60)
        assert closed.wait(60)
        assert not [line for line in served.log if line["level"] == "error"]


@pytest.mark.parametrize("path", ["/v1/answer", "/v1/chat/completions"])
def test_an_answer_that_outlasts_the_limit_is_marked_interrupted(
    tmp_path: Path, faults: FaultServer, path: str
) -> None:
    closed = threading.Event()
    model_server(faults, [BEGINNING, UntilClientCloses(closed)])
    body: Any = STREAMED
    if path != "/v1/answer":
        body = {"model": "generation", "stream": True, "messages": [{"role": "user", "content": "Which oil?"}]}
    with (
        a_process(tmp_path, faults.url, "--no-auth", shutdown_seconds=0) as served,
        httpx2.Client(base_url=served.url, timeout=60) as client,
        client.stream("POST", path, json=body) as reply,
    ):
        pieces = reply.iter_text()
        text = ""
        while "It needs " not in text:
            text += next(pieces)
        served.process.send_signal(signal.SIGTERM)
        text += "".join(pieces)
        if path == "/v1/answer":
            last = [one for block in text.split("\n\n") if (one := one_event(block)) is not None][-2:]
            assert [one.name for one in last] == ["error", "done"]
            assert (last[0].data["error"]["code"], last[1].data["outcome"]) == ("service_ending", "interrupted")
        else:
            assert '"code": "service_ending"' in text
            assert text.endswith("data: [DONE]\n\n")
        served.process.wait(60)
        assert closed.wait(60)


def test_a_killed_service_leaves_a_stream_without_an_end_and_goes_on_counting_afterwards(
    tmp_path: Path, faults: FaultServer
) -> None:
    closed = threading.Event()
    model_server(faults, [BEGINNING, UntilClientCloses(closed)], answer_of("ISO VG 46 oil."))
    _, key = KeyStore(tmp_path / "data" / "keys.json").add("anna")
    options: dict[str, Any] = {"headers": {"Authorization": f"Bearer {key}"}, "timeout": 60}
    with (
        a_process(tmp_path, faults.url, limits="2/hour") as served,
        httpx2.Client(base_url=served.url, **options) as client,
        client.stream("POST", "/v1/answer", json=STREAMED) as reply,
    ):
        stream = events(reply)
        read = until(stream, "text_delta")
        served.process.kill()
        with pytest.raises(httpx2.TransportError):
            read += list(stream)
        assert text_of(read) == "It needs "
        assert closed.wait(60)  # the model server knows that nobody listens
        served.process.wait(60)
    with (
        a_process(tmp_path, faults.url, limits="2/hour") as served,
        httpx2.Client(base_url=served.url, **options) as client,
    ):
        replies = [client.post("/v1/answer", json=QUESTION) for _ in range(2)]
        assert [reply.status_code for reply in replies] == [200, 429]
        assert key not in served.log_file.read_text()
