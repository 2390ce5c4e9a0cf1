"""Running the packaged llama-server in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ..http.client import HTTPClient
from ..schema.errors import InvalidOption, LocalServerFailed, MissingExtra, ServerError
from .cores import default_threads

POOLINGS: Final = ("mean", "cls", "last", "rank")
GRACE_SECONDS: Final = 5.0
LOG_TAIL_BYTES: Final = 16_384


class LlamaServer:
    """The packaged llama-server on one model file, in a process that ends with this one.

    Use it as a context manager, or call `start` and `stop`.

    Args:
        model: The GGUF file.
        host: The address to listen at.
        port: The port, 0 for a free one.
        context_window: Tokens of prompt and answer together, for each slot.
        slots: Requests worked on at a time.
        threads: Threads of the model; None takes the free physical cores.
        embeddings: Serve embeddings instead of answers.
        pooling: How an embedding is made of its tokens' vectors: "mean", "cls", "last", or "rank" for a reranker;
            None is "mean" with `embeddings`.
        alias: The model's id; None takes the file's name without its ending.
        api_key: What requests must bring; None asks for nothing.
        start_timeout: The longest wait until the model is loaded, in seconds.
        log_path: Where the server's log goes; None keeps it while the server runs.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        context_window: int = 4096,
        slots: int = 1,
        threads: int | None = None,
        embeddings: bool = False,
        pooling: str | None = None,
        alias: str | None = None,
        api_key: str | None = None,
        start_timeout: float = 300.0,
        log_path: str | Path | None = None,
    ) -> None:
        for name, value in (("context_window", context_window), ("slots", slots), ("threads", threads)):
            if value is not None and value < 1:
                raise InvalidOption(name, value, "1 or more")
        if not 0 <= port <= 65535:
            raise InvalidOption("port", port, "a port from 0 to 65535")
        if pooling is not None and pooling not in POOLINGS:
            raise InvalidOption("pooling", pooling, " or ".join(POOLINGS))
        self.model_path = Path(model)
        self.model = alias or self.model_path.name.removesuffix(".gguf")
        self.api_key = api_key
        self._start_timeout = start_timeout
        self._log_path = Path(log_path) if log_path is not None else None
        self._settings: dict[str, Any] = {
            "model": str(self.model_path),
            "alias": self.model,
            "host": host,
            "port": port,
            "context_window": context_window,
            "slots": slots,
            "threads": threads,
            "pooling": pooling or ("mean" if embeddings else None),
            "api_key": api_key,
        }
        self._url: str | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._kept_log: Path | None = None
        self._release: weakref.finalize[..., Self] | None = None

    @property
    def url(self) -> str:
        """The running server's address, with `/v1`."""
        if self._url is None:
            raise LocalServerFailed("it is not running")
        return self._url

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def log(self) -> str:
        """Return the end of the server's log."""
        return "" if self._kept_log is None else _tail(self._kept_log)

    def start(self) -> Self:
        """Start the server and wait until its model is loaded.

        Raises:
            MissingExtra: The packaged server is not installed.
            LocalServerFailed: The file is no model, the port is taken, memory is short, or it took too long.
        """
        if self._process is not None:
            return self
        self._check()
        deadline = time.monotonic() + self._start_timeout
        log, self._kept_log = _open_log(self._log_path)
        with log:
            process = subprocess.Popen(  # noqa: S603 - our own program, run by this interpreter
                [sys.executable, "-m", f"{__package__}.server_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            )
        self._process = process
        self._release = weakref.finalize(self, _end, process, self._kept_log if self._log_path is None else None)
        try:
            self._send_settings(process)
            self._url = self._address(process, deadline) + "/v1"
            self._await_health(process, deadline)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the server and free what it holds."""
        if self._release is not None:
            self._release()
        self._process = self._url = self._kept_log = self._release = None

    def wait(self) -> int:
        """Wait until the server's process ends, and return its exit code."""
        if self._process is None:
            raise LocalServerFailed("it is not running")
        return self._process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _check(self) -> None:
        if find_spec("xllamacpp") is None:
            raise MissingExtra("llama-server", "local")
        try:
            with self.model_path.open("rb") as file:
                magic = file.read(4)
        except OSError as error:
            raise LocalServerFailed(f"{self.model_path}: {error.strerror}") from error
        if magic != b"GGUF":
            raise LocalServerFailed(f"{self.model_path} is not a GGUF file")

    def _send_settings(self, process: subprocess.Popen[bytes]) -> None:
        settings = {**self._settings, "threads": self._settings["threads"] or default_threads()}
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(settings).encode() + b"\n")
            process.stdin.flush()
        except OSError as error:
            raise self._failed(process) from error

    def _address(self, process: subprocess.Popen[bytes], deadline: float) -> str:
        lines: queue.Queue[bytes] = queue.Queue()

        def read() -> None:
            if process.stdout is not None:
                with process.stdout as output:
                    lines.put(output.readline())

        threading.Thread(target=read, daemon=True).start()
        try:
            line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty as error:
            raise LocalServerFailed(f"the model was not loaded within {self._start_timeout:g} s") from error
        if not line:
            raise self._failed(process)
        address = json.loads(line)["address"]
        return str(address)

    def _await_health(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        client = HTTPClient(self.url, api_key=self.api_key, timeout=max(0.1, deadline - time.monotonic()))
        request = client.get("//health")

        def healthy() -> Any:
            yield request

        try:
            client.run(healthy())
        except ServerError as error:
            raise (self._failed(process) if process.poll() is not None else LocalServerFailed(str(error))) from error
        finally:
            client.close()

    def _failed(self, process: subprocess.Popen[bytes]) -> LocalServerFailed:
        try:
            code = process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return LocalServerFailed("it gave no address")
        faults = [line for line in self.log().splitlines() if " E " in line]
        lines = faults or [line for line in self.log().splitlines() if line.strip()][-1:]
        reason = " / ".join(" ".join(line.partition(" E ")[2].split() or line.split()) for line in lines[-3:])
        if code < 0:
            reason = f"its process was ended by signal {-code}. {reason}"
        return LocalServerFailed(reason or f"its process ended with exit code {code}")


def _open_log(path: Path | None) -> tuple[Any, Path]:
    if path is not None:
        try:
            return path.open("ab"), path
        except OSError as error:
            raise LocalServerFailed(f"{path}: {error.strerror}") from error
    handle, name = tempfile.mkstemp(prefix="responsa-llama-server-", suffix=".log")
    return os.fdopen(handle, "ab"), Path(name)


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def _end(process: subprocess.Popen[bytes], log: Path | None) -> None:
    """End a server's process: ask, then insist; remove its log if it was ours."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):  # it has ended already
            process.stdin.close()
    if not _ended(process):
        process.terminate()
        if not _ended(process):
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
    if log is not None:
        log.unlink(missing_ok=True)


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True
