"""Running a llama-server in a process of its own: the packaged one, or a program that is here."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
import weakref
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ..http.client import HTTPClient
from ..schema.errors import (
    InvalidOption,
    LocalServerFailed,
    MissingExtra,
    ServerError,
    ServerLoading,
    ServerProgramNotFound,
    ServerTimeout,
    ServerUnreachable,
)
from .cores import default_threads
from .hub import HubFile
from .server_log import ServerLog

POOLINGS: Final = ("mean", "cls", "last", "rank")
START_SECONDS: Final = 300.0
DOWNLOAD_SECONDS: Final = 3600.0
GRACE_SECONDS: Final = 5.0
LOOK_SECONDS: Final = 1.0
_PORT_TAKEN: Final = "couldn't bind"
PAUSE_SECONDS: Final = 0.05


class LlamaServer:
    """A llama-server on one model, in a process that ends with this one.

    Use it as a context manager, or call `start` and `stop`.

    Args:
        model: The GGUF file; or a `HubFile`, which the server downloads itself and keeps in its own cache.
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
        start_timeout: The longest wait until the model is loaded, in seconds; None is 300, and 3,600 where it may have
            to be downloaded.
        log_path: Where the server's log goes; None keeps it while the server runs.
        program: The llama-server program to run; None is the packaged server, and for a `HubFile`, which that cannot
            download, the `llama-server` on the PATH.
    """

    def __init__(
        self,
        model: str | Path | HubFile,
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
        start_timeout: float | None = None,
        log_path: str | Path | None = None,
        program: str | Path | None = None,
    ) -> None:
        for name, value in (("context_window", context_window), ("slots", slots), ("threads", threads)):
            if value is not None and value < 1:
                raise InvalidOption(name, value, "1 or more")
        if not 0 <= port <= 65535:
            raise InvalidOption("port", port, "a port from 0 to 65535")
        if pooling is not None and pooling not in POOLINGS:
            raise InvalidOption("pooling", pooling, " or ".join(POOLINGS))
        if start_timeout is not None and not start_timeout > 0:
            raise InvalidOption("start_timeout", start_timeout, "a number of seconds above 0")
        self.hub_file = model if isinstance(model, HubFile) else None
        self.model_path = None if isinstance(model, HubFile) else Path(model)
        self.model = alias or (model.name if isinstance(model, HubFile) else Path(model).name.removesuffix(".gguf"))
        self.api_key = api_key
        self._program = program
        self._start_timeout = start_timeout or (START_SECONDS if self.hub_file is None else DOWNLOAD_SECONDS)
        self._log_path = Path(log_path) if log_path is not None else None
        self._settings: dict[str, Any] = {
            "model": None if self.model_path is None else str(self.model_path),
            "hub": None if self.hub_file is None else [self.hub_file.repo, self.hub_file.file],
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
        self._log: ServerLog | None = None
        self._release: weakref.finalize[..., Self] | None = None

    @property
    def url(self) -> str:
        """The running server's address, with `/v1`."""
        if self._url is None:
            raise LocalServerFailed("it was not started, or has ended")
        return self._url

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return None if self._process is None or self._process.poll() is not None else self._process.pid

    def log(self) -> str:
        """Return the end of the server's log."""
        return "" if self._log is None else self._log.tail()

    def start(self) -> Self:
        """Start the server and wait until its model is loaded.

        Raises:
            MissingExtra: The packaged server is not installed.
            ServerProgramNotFound: There is no program that could download the model.
            LocalServerFailed: The file is no model, the port is taken, memory is short, or it took too long.
        """
        if self._process is not None:
            return self
        program = self._program_to_run()
        deadline = time.monotonic() + self._start_timeout
        log = self._log = ServerLog(self._log_path)
        try:
            process = self._process = _run_process(log)
        except BaseException:
            log.remove()
            raise
        self._release = weakref.finalize(self, _end, process, log)
        try:
            self._send_settings(process, program)
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
        self._process = self._url = self._log = self._release = None

    def wait(self) -> int:
        """Wait until the server's process ends, and return its exit code."""
        if self._process is None:
            raise LocalServerFailed("it was not started, or has ended")
        return self._process.wait()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _program_to_run(self) -> str | None:
        """Check that there is a server, and a model to load; return the program, or None for the packaged server."""
        name = self._program or ("llama-server" if self.hub_file is not None else None)
        found = None if name is None else shutil.which(str(name))
        if name is not None and found is None:
            raise ServerProgramNotFound(str(name), self.model if self.hub_file is None else str(self.hub_file))
        if name is None and find_spec("xllamacpp") is None:
            raise MissingExtra("llama-server", "local")
        if self.model_path is not None:
            self._check_file(self.model_path)
        return found

    def _check_file(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                magic = file.read(4)
        except OSError as error:
            raise LocalServerFailed(f"{path}: {error.strerror}") from error
        if magic != b"GGUF":
            raise LocalServerFailed(f"{path} is not a GGUF file")

    def _send_settings(self, process: subprocess.Popen[bytes], program: str | None) -> None:
        settings = {**self._settings, "program": program, "threads": self._settings["threads"] or default_threads()}
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
            raise self._too_slow() from error
        if not line:
            raise self._failed(process)
        address = json.loads(line)["address"]
        return str(address)

    def _await_health(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        client = HTTPClient(self.url, api_key=self.api_key, timeout=LOOK_SECONDS, max_retries=0)

        def healthy() -> Any:
            yield client.get("//health")

        try:
            while True:
                try:
                    client.run(healthy())
                except ServerError as error:
                    if process.poll() is not None:  # a program listens before its model is loaded, and may still fail
                        raise self._failed(process) from error
                    if time.monotonic() >= deadline:
                        raise self._too_slow() from error
                    if not isinstance(error, ServerLoading | ServerTimeout | ServerUnreachable):
                        raise LocalServerFailed(str(error)) from error
                    time.sleep(PAUSE_SECONDS)
                else:
                    return
        finally:
            client.close()

    def _too_slow(self) -> LocalServerFailed:
        return LocalServerFailed(f"the model was not loaded within {self._start_timeout:g} s")

    def _failed(self, process: subprocess.Popen[bytes]) -> LocalServerFailed:
        try:
            code = process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return LocalServerFailed("it gave no address")
        reason = "" if self._log is None else self._log.last_errors()
        if _PORT_TAKEN in reason:
            reason = f"port {self._settings['port']} is taken; give another"
        if code < 0:
            reason = f"its process was ended by signal {-code}. {reason}"
        if self.hub_file is not None:
            reason = (
                f"it could not download or load {self.hub_file}; it needs the hub, or the file in its cache. {reason}"
            )
        return LocalServerFailed(reason or f"its process ended with exit code {code}")


def _run_process(log: ServerLog) -> subprocess.Popen[bytes]:
    with log.open() as file:
        return subprocess.Popen(  # noqa: S603 - our own program, run by this interpreter
            [sys.executable, "-m", f"{__package__}.server_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )


def _end(process: subprocess.Popen[bytes], log: ServerLog) -> None:
    """End a server's process: ask, then insist."""
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
    log.remove()


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True
