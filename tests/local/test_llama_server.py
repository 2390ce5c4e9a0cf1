"""The packaged server runs in its own process, and is gone when it is no longer wanted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from responsa.http.client import HTTPClient
from responsa.http.messages import Exchange, Reply, Request
from responsa.local import llama_server
from responsa.local.llama_server import LlamaServer
from responsa.schema.errors import AuthenticationFailed, InvalidOption, LocalServerFailed, MissingExtra, ServerError

PATIENCE = 60.0


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def eventually(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def get(url: str, api_key: str | None = None) -> Reply:
    client = HTTPClient(url, api_key=api_key, timeout=PATIENCE, max_retries=0)

    def asking() -> Exchange[Reply]:
        return (yield Request("GET", f"{url}/models"))

    try:
        return client.run(asking())
    finally:
        client.close()


@pytest.mark.real_server
def test_it_serves_the_model_by_its_alias_with_the_window_of_each_slot(smollm2: Path, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with LlamaServer(smollm2, alias="small", context_window=256, slots=2, threads=1, log_path=log) as server:
        (entry,) = get(server.url).object()["data"]
        assert (entry["id"], entry["meta"]["n_ctx"], server.model) == ("small", 256, "small")
        assert server.log()
        pid, url = server.pid, server.url
    assert pid is not None
    assert not is_alive(pid)
    assert log.read_bytes()
    with pytest.raises(ServerError):
        get(url)
    assert server.pid is None
    with pytest.raises(LocalServerFailed):
        _ = server.url


@pytest.mark.real_server
def test_a_key_is_asked_for_where_one_is_set(smollm2: Path) -> None:
    with LlamaServer(smollm2, context_window=64, threads=1, api_key="secret") as server:
        assert get(server.url, "secret").status == 200
        with pytest.raises(AuthenticationFailed):
            get(server.url, "other")
        assert server.pid is not None
        command = Path(f"/proc/{server.pid}/cmdline")
        assert not command.exists() or b"secret" not in command.read_bytes()


@pytest.mark.real_server
def test_it_leaves_no_log_of_its_own_behind(smollm2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with LlamaServer(smollm2, context_window=64, threads=1):
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real_server
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs a signal that cannot be caught")
def test_it_ends_when_its_parent_is_killed(smollm2: Path) -> None:
    program = f"""
        from responsa.local.llama_server import LlamaServer
        server = LlamaServer({str(smollm2)!r}, context_window=64, threads=1).start()
        print(server.pid, flush=True)
        server.wait()
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    assert eventually(lambda: not is_alive(pid))


@pytest.mark.real_server
def test_a_port_that_is_taken_is_told(smollm2: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LocalServerFailed, match=f"port {port} is taken; give another"):
            LlamaServer(smollm2, port=port, context_window=64, threads=1).start()


@pytest.mark.real_server
def test_loading_has_a_limit_of_time(smollm2: Path) -> None:
    server = LlamaServer(smollm2, context_window=64, threads=1, start_timeout=0.001)
    with pytest.raises(LocalServerFailed):
        server.start()
    assert server.pid is None


@pytest.mark.parametrize(
    "content", [None, b"", b"hello", b"GGUF" + bytes(100)], ids=["none", "empty", "text", "damaged"]
)
def test_a_file_that_is_no_model_is_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    server = LlamaServer(path, threads=1)
    with pytest.raises(LocalServerFailed, match=r"model\.gguf"):
        server.start()
    assert server.pid is None


def test_without_the_packaged_server_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_server, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra) as caught:
        LlamaServer(tmp_path / "model.gguf").start()
    assert caught.value.extra == "local"


@pytest.mark.parametrize(
    "options", [{"context_window": 0}, {"slots": 0}, {"threads": 0}, {"port": 70000}, {"port": -1}, {"pooling": "max"}]
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption):
        LlamaServer("model.gguf", **options)


def test_a_server_that_does_not_run_can_be_stopped() -> None:
    server = LlamaServer("model.gguf")
    server.stop()
    assert (server.pid, server.log()) == (None, "")
    with pytest.raises(LocalServerFailed):
        server.wait()
