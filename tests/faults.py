"""A server on loopback that answers with exactly the bytes it was told to, for everything a real one does rarely."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

# Nothing here takes this long; it only keeps a broken test from hanging, in seconds.
PATIENCE: Final = 30.0


@dataclass(frozen=True)
class WaitFor:
    """Send nothing more until `event` is set."""

    event: threading.Event


class Hang:
    """Send nothing more, ever."""


@dataclass(frozen=True)
class UntilClientCloses:
    """Wait until the client closes its connection, then set `event`."""

    event: threading.Event


class Close:
    """End the connection in order."""


class Reset:
    """End the connection with a reset."""


Step = bytes | WaitFor | Hang | UntilClientCloses | Close | Reset
Script = bytes | Iterable[Step]


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def reply(body: Any, status: int = 200, **headers: str) -> bytes:
    """Return a whole HTTP reply; a body that is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    lines = [f"HTTP/1.1 {status} Status"]
    fields = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    fields.update({name.replace("_", "-"): value for name, value in headers.items()})
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


STREAM_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM_END: Final = b"0\r\n\r\n"
UNCHUNKED_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def chunk(data: bytes) -> bytes:
    """Return one chunk of a chunked reply."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(payload: Any) -> bytes:
    """Return one server-sent event."""
    text = payload if isinstance(payload, bytes) else json.dumps(payload, ensure_ascii=False).encode()
    return b"data: " + text + b"\n\n"


DONE: Final = event(b"[DONE]")


def delta(content: Any = None, *, reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return one chunk of a chat completion."""
    inner = {} if content is None and not fields else {"content": content, **fields}
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": inner, "finish_reason": reason}]}


def stream_of(*payloads: Any, done: bool = True) -> bytes:
    """Return a whole chunked stream of events."""
    body = b"".join(chunk(event(payload)) for payload in payloads)
    return STREAM_HEAD + body + (chunk(DONE) if done else b"") + STREAM_END


def answer_of(*texts: str, reason: str = "stop") -> bytes:
    """Return the stream of an ordinary answer."""
    return stream_of(*(delta(text) for text in texts), delta(reason=reason))


NOT_FOUND: Final = reply({"error": {"message": "File Not Found", "type": "not_found_error", "code": 404}}, 404)


@dataclass
class FaultServer:
    """Answers each route with its scripts in turn, the last one again and again; else 404.

    Use it as a context manager.
    """

    received: list[Received] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._scripts: dict[str, list[Iterable[Step]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._stopped = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.root}/v1"

    def on(self, route: str, *scripts: Script) -> FaultServer:
        """Answer `route` ("POST /v1/chat/completions") with these scripts in turn."""
        for script in scripts:
            self._scripts[route].append([script] if isinstance(script, bytes) else script)
        return self

    def instead(self, route: str, *scripts: Script) -> FaultServer:
        """Answer `route` with these scripts from now on."""
        self._scripts[route].clear()
        return self.on(route, *scripts)

    def count(self, route: str) -> int:
        """Return how many requests of a route came."""
        return len(self.requests(route))

    def requests(self, route: str) -> list[Received]:
        """Return the requests of a route."""
        with self._lock:
            return [one for one in self.received if f"{one.method} {one.path}" == route]

    def __enter__(self) -> FaultServer:
        accepting = threading.Thread(target=self._accept, daemon=True)
        self._threads.append(accepting)
        accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE)

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._connections.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection, len(self._connections)), daemon=True)
                self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(PATIENCE)
            for request in _requests(connection, number):
                with self._lock:
                    self.received.append(request)
                    scripts = self._scripts.get(f"{request.method} {request.path}", [])
                    script: Iterable[Step] = (
                        scripts.pop(0) if len(scripts) > 1 else scripts[0] if scripts else [NOT_FOUND]
                    )
                if not self._play(connection, script):
                    return

    def _play(self, connection: socket.socket, script: Iterable[Step]) -> bool:
        """Carry out a script; say whether the connection goes on."""
        for step in script:
            if self._stopped.is_set():
                return False
            if isinstance(step, bytes):
                connection.sendall(step)
            elif isinstance(step, WaitFor):
                step.event.wait(PATIENCE)
            elif isinstance(step, Hang):
                self._stopped.wait(PATIENCE)
            elif isinstance(step, UntilClientCloses):
                with contextlib.suppress(ConnectionError):
                    while connection.recv(4096):
                        pass
                step.event.set()
                return False
            else:
                if isinstance(step, Reset):
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
        return True


def _requests(connection: socket.socket, number: int) -> Iterator[Received]:
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            more = connection.recv(65536)
            if not more:
                return
            buffer += more
        head, buffer = buffer.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", 0))
        while len(buffer) < length:
            more = connection.recv(65536)
            if not more:
                return
            buffer += more
        body, buffer = buffer[:length], buffer[length:]
        method, path, _ = first.split(" ")
        yield Received(method, path, headers, body, number)
