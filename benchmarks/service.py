"""What the answer service costs: a token of many streams, the first token, and `/healthz` while much is done.

    python benchmarks/service.py [--streams 500] [--tokens 200] [--pace 20] [--skip-model]

The service runs in a process of its own, `responsa serve`, before a scripted model server in another. Processor time
does not depend on the machine's load; delays do. The time before the first token is measured with the smallest
packaged model behind it: the same prompt is sent to the model server directly and through the service, in turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from client_stream import scripted_server
from pdf_pages import pdf_of

TICKS = os.sysconf("SC_CLK_TCK")
QUESTION = {"question": "Where?", "nodes": [{"text": "It is here."}], "stream": True}


@contextlib.contextmanager
def service(api_base: str, **settings: object) -> Iterator[tuple[int, int]]:
    """Run the service and give its port and process id."""
    with tempfile.TemporaryDirectory() as directory:
        options = {f"RESPONSA_{name.upper()}": str(value) for name, value in settings.items()}
        environment = {**os.environ, **options, "RESPONSA_DATA_DIR": directory, "RESPONSA_LANG": "en"}
        environment["RESPONSA_LOG_LEVEL"] = "warning"
        command = [sys.executable, "-m", "responsa.cli", "serve", "--no-auth", "--port", "0", "--api-base", api_base]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield int(process.stdout.readline().rsplit(":", 1)[1]), process.pid
            finally:
                process.terminate()


def used(pid: int) -> tuple[float, float]:
    """Return a process's processor seconds and its resident megabytes at their highest."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / TICKS, peak / 1024


def request(path: str, body: Any) -> bytes:
    """Return a POST request as bytes."""
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


async def one_stream(port: int, delays: list[float], failures: list[str]) -> int:
    """Read one answer to its end; note how late each token came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request("/v1/answer", QUESTION))
    tokens = 0
    name = b""
    try:
        while line := await reader.readline():
            if line.startswith(b"event: "):
                name = line[7:-1]
            elif line.startswith(b"data: ") and name == b"text_delta":
                sent = int(line.split(b'"', 4)[3])
                delays.append(time.monotonic() - sent / 1e6)
                tokens += 1
            elif line.startswith(b"data: ") and name == b"done":
                break
            elif line.startswith(b"data: ") and name == b"error":
                failures.append(line.decode())
    finally:
        writer.close()
    return tokens


def many_streams(streams: int, tokens: int, pace: float, opened: int = 100) -> dict[str, object]:
    """Return what that many streams at once cost and how late their tokens were; `opened` begin in each second.

    A token's cost is that of the time after all were opened; what it took to open them is told apart.
    """
    delays: list[float] = []
    failures: list[str] = []

    async def read(port: int, pid: int) -> tuple[float, float]:
        reading = []
        before, _ = used(pid)
        for number in range(streams):
            reading.append(asyncio.ensure_future(one_stream(port, delays, failures)))
            if number % 4 == 3:
                await asyncio.sleep(4 / opened)
        await asyncio.sleep(1)  # the last ones are open
        during, _ = used(pid)
        given = len(delays)
        await asyncio.gather(*reading)
        after, _ = used(pid)
        a_token = (after - during) / (len(delays) - given)
        return a_token, (during - before - given * a_token) / streams

    with (
        scripted_server(tokens, pace) as upstream,
        service(upstream, concurrency=streams, max_waiting=streams) as (port, pid),
    ):
        asyncio.run(one_stream(port, delays, failures))  # what is asked and loaded once
        delays.clear()
        a_token, a_stream = asyncio.run(read(port, pid))
        _, memory = used(pid)
    return {
        "streams": streams,
        "tokens": len(delays),
        "failures": len(failures),
        "cpu_microseconds_a_token": round(a_token * 1e6, 1),
        "cpu_milliseconds_to_open": round(a_stream * 1e3, 2),
        "latest_token_ms": round(max(delays) * 1000, 1),
        "p99_token_ms": round(sorted(delays)[int(len(delays) * 0.99)] * 1000, 1),
        "memory_mb": round(memory, 1),
    }


async def exchange(port: int, sent: bytes) -> bytes:
    """Send a request over a connection of its own; return the reply's body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    reply = await reader.read()
    writer.close()
    head, _, body = reply.partition(b"\r\n\r\n")
    assert b" 20" in head.split(b"\r\n", 1)[0], head
    return body


def get(path: str) -> bytes:
    """Return a GET request as bytes."""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()


def upload(content: bytes) -> bytes:
    """Return the request that sends a PDF."""
    part = b'Content-Disposition: form-data; name="files"; filename="pages.pdf"\r\nContent-Type: application/pdf'
    body = b"--part\r\n" + part + b"\r\n\r\n" + content + b"\r\n--part--\r\n"
    head = "POST /v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    kind = f"Content-Type: multipart/form-data; boundary=part\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + kind).encode() + body


def health(streams: int, pages: int, pace: float) -> dict[str, object]:
    """Return how soon `/healthz` answers while that many answers stream and a PDF is taken in."""
    content = pdf_of(pages)
    delays: list[float] = []
    failures: list[str] = []
    waited: list[float] = []

    async def ask(port: int, reading: asyncio.Future[list[int]]) -> None:
        while not reading.done():
            began = time.perf_counter()
            await exchange(port, get("/healthz"))
            waited.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.02)

    async def measure(port: int) -> str:
        await one_stream(port, delays, failures)  # what is asked and loaded once
        delays.clear()
        job = json.loads(await exchange(port, upload(content)))["job"]
        await ask(port, asyncio.gather(*(one_stream(port, delays, failures) for _ in range(streams))))
        return str(json.loads(await exchange(port, get(f"/v1/jobs/{job['id']}")))["state"])

    with (
        tempfile.TemporaryDirectory() as directory,
        scripted_server(round(30 * pace), pace) as upstream,
        service(upstream, concurrency=streams, max_waiting=streams, index=directory) as (port, _),
    ):
        job_at_the_end = asyncio.run(measure(port))
    waited.sort()
    return {
        "streams": streams,
        "pages": pages,
        "job_at_the_end": job_at_the_end,
        "failures": len(failures),
        "asked": len(waited),
        "median_ms": round(statistics.median(waited), 1),
        "p99_ms": round(waited[len(waited) * 99 // 100], 1),
        "largest_ms": round(waited[-1], 1),
        "latest_token_ms": round(max(delays) * 1000, 1),
    }


async def seconds_to(port: int, path: str, body: Any, sign: bytes) -> tuple[float, bytes]:
    """Return the seconds until a reply's line holds `sign`, and the last line of its data."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.perf_counter()
    writer.write(request(path, body))
    first = 0.0
    last = b""
    while line := await reader.readline():
        if not first and sign in line:
            first = time.perf_counter() - began
        if line.startswith(b"data: "):
            last = line
        if line.startswith((b"data: [DONE]", b"event: done")):
            last = await reader.readline() if line.startswith(b"event") else last
            break
    writer.close()
    return first, last


def time_added(rounds: int) -> dict[str, object]:
    """Return the milliseconds that the service adds before the first token, at the median."""
    from responsa.local.llama_server import LlamaServer
    from responsa.local.models import fetch

    passages = [{"text": f"Passage {number}: the pump {number} needs ISO VG {number} oil."} for number in range(8)]
    body = {"question": "Which oil does pump 3 need?", "nodes": passages, "stream": True, "include_prompts": True}

    async def compare(port: int, model_port: int) -> list[float]:
        _, done = await seconds_to(port, "/v1/answer", {**body, "max_tokens": 8}, b"text_delta")
        messages = json.loads(done[6:])["trace"][0]["messages"]
        direct = {"messages": messages, "stream": True, "max_tokens": 8, "temperature": 0.0}
        added = []
        for number in range(rounds + 1):
            alone, _ = await seconds_to(model_port, "/v1/chat/completions", direct, b'"content":"')
            through, _ = await seconds_to(port, "/v1/answer", {**body, "max_tokens": 8}, b"text_delta")
            if number:
                added.append((through - alone) * 1000)
        return added

    with (
        LlamaServer(fetch("smollm2-135m"), context_window=2048, slots=1, threads=1) as server,
        service(server.url) as (port, _),
    ):
        added = asyncio.run(compare(port, int(server.url.rsplit(":", 1)[1].removesuffix("/v1"))))
    return {"rounds": rounds, "added_ms_median": round(statistics.median(added), 2), "largest": round(max(added), 2)}


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--streams", type=int, default=500)
    arguments.add_argument("--tokens", type=int, default=200)
    arguments.add_argument("--pace", type=float, default=20.0)
    arguments.add_argument("--skip-model", action="store_true")
    given = arguments.parse_args()
    print(json.dumps({"service_streams": many_streams(given.streams, given.tokens, given.pace)}))
    print(json.dumps({"service_health": health(100, 200, given.pace)}))
    if not given.skip_model:
        print(json.dumps({"service_first_token": time_added(30)}))
