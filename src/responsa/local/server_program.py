"""Running a llama-server program of its own, such as llama.cpp's, in the place of the packaged server."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from types import FrameType
from typing import Any, Final

GRACE_SECONDS: Final = 3.0
LOOK_SECONDS: Final = 0.05


def arguments(settings: dict[str, Any]) -> list[str]:
    """Return the program and its arguments for the settings that `LlamaServer` sends; the key is none of them."""
    slots, window = settings["slots"], settings["context_window"]
    command = [settings["program"], *_model(settings), "--alias", settings["alias"]]
    command += ["--host", settings["host"], "--port", str(settings["port"])]
    command += ["--ctx-size", str(window * slots), "--parallel", str(slots), "--threads", str(settings["threads"])]
    command += ["--metrics", "--slots"]
    if settings["pooling"] is not None:
        # A text must fit one physical batch to be embedded.
        command += ["--pooling", settings["pooling"], "--batch-size", str(window), "--ubatch-size", str(window)]
        command += ["--reranking" if settings["pooling"] == "rank" else "--embeddings"]
    return command


def _model(settings: dict[str, Any]) -> list[str]:
    if settings["hub"] is None:
        return ["--model", settings["model"]]
    repo, file = settings["hub"]
    return ["--hf-repo", repo, "--hf-file", file] if file.endswith(".gguf") else ["--hf-repo", f"{repo}:{file}"]


class ServerProgram:
    """The program while it runs.

    Args:
        settings: What `LlamaServer` sends; a port of 0 is replaced by a free one.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self._host = settings["host"]
        self._port = settings["port"] or _free_port(self._host)
        key = {"LLAMA_API_KEY": settings["api_key"]} if settings["api_key"] else {}
        self._process = subprocess.Popen(  # noqa: S603 - the program the user named
            arguments({**settings, "port": self._port}),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            env={**os.environ, **key},
        )
        signal.signal(signal.SIGTERM, self._told_to_end)

    @property
    def address(self) -> str:
        """Where it listens, without `/v1`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    def await_port(self) -> bool:
        """Wait until it listens, which is after it has downloaded its model; False if it ended instead."""
        while self._process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection((self._host, self._port), LOOK_SECONDS):
                return True
            time.sleep(LOOK_SECONDS)
        return False

    def wait(self) -> int:
        """Wait until it ends, and return its exit code."""
        return self._process.wait()

    def end(self) -> None:
        """End it: ask, then insist."""
        self._process.terminate()
        try:
            self._process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _told_to_end(self, number: int, frame: FrameType | None) -> None:
        self.end()
        os._exit(128 + number)


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])
