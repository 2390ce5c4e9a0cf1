"""The service's side of the process that reads files. Its methods block: call them in a thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, Final

from responsa.schema.errors import ReadingFailed
from responsa.schema.nodes import Document

_MODULE: Final = "responsa.server.documents.reading"
_CHECK_SECONDS: Final = 60.0
_ENDED: Final = "the reader ended on it"
_TOO_LONG: Final = "reading it takes too long"


class Reader:
    """Reads files in a process of its own, begun with the first of them and again after one that ended it.

    Close it, or its process goes on until this one ends.

    Args:
        max_bytes: The most bytes a file may have, and unpack to.
        seconds: The longest the reading of a file may take; looking what it is takes a minute at most.
    """

    def __init__(self, *, max_bytes: int, seconds: float) -> None:
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def check(self, path: Path, name: str) -> str:
        """Return a file's media type by its content.

        Raises:
            ReadingFailed: It is empty, encrypted, damaged, or of a kind that is not read.
        """
        for frame in self._frames({"check": True, "id": "", "path": str(path), "name": name}):
            return str(frame["kind"])
        raise ReadingFailed(name, "damaged", _ENDED)

    def documents(self, path: Path, name: str, document_id: str) -> Iterator[Document]:
        """Yield a file's documents; their identities begin with `document_id` and a dot.

        Raises:
            ReadingFailed: It cannot be read, or ended the process, or took too long.
        """
        for frame in self._frames({"check": False, "id": document_id, "path": str(path), "name": name}):
            if "end" in frame:
                return
            yield Document(**frame)

    def close(self) -> None:
        """End the process, whatever it does; does not wait for a reading that is under way."""
        self._closed = True
        self._end()

    def _frames(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        name = request["name"]
        try:
            process = self._begun()
        except OSError:
            raise ReadingFailed(name, "damaged", _ENDED) from None
        assert process.stdin is not None
        assert process.stdout is not None
        seconds = min(self._seconds, _CHECK_SECONDS) if request["check"] else self._seconds
        late = Timer(seconds, process.kill)
        late.daemon = True
        late.start()
        try:
            process.stdin.write(json.dumps({**request, "max_bytes": self._max_bytes}).encode() + b"\n")
            process.stdin.flush()
            while True:
                size = process.stdout.read(4)
                data = process.stdout.read(int.from_bytes(size, "big")) if len(size) == 4 else b""
                if not data:
                    raise ReadingFailed(name, "damaged", _ENDED if late.is_alive() else _TOO_LONG)
                frame = json.loads(data)
                if "failed" in frame:
                    raise ReadingFailed(name, *frame["failed"])
                yield frame
                if "end" in frame or "kind" in frame:
                    return
        except (OSError, ValueError):
            raise ReadingFailed(name, "damaged", _ENDED) from None
        finally:
            late.cancel()

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            if self._closed:
                raise OSError("closed")
            # A parser that is taken over must not find the service's secrets.
            environment = {name: value for name, value in os.environ.items() if not name.startswith("RESPONSA_")}
            self._process = subprocess.Popen(  # noqa: S603 - this package's own module
                [sys.executable, "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written yet goes nowhere
                    pipe.close()
