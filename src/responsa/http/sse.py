"""Reading server-sent events from bytes as they come."""

from __future__ import annotations

from ..schema.errors import BadResponse

MAX_EVENT_BYTES = 1024 * 1024
DONE = b"[DONE]"


class SSEReader:
    """Cuts a byte stream into the data of its events; it does no I/O.

    Lines may end with LF, CRLF or CR, be cut anywhere, and be comments; an event's `data` lines are joined by LF;
    other fields are skipped. `[DONE]` ends the stream: what follows it is ignored.

    Args:
        url: The stream's address, for errors.
        max_event_bytes: The largest event accepted, in bytes.
    """

    __slots__ = ("_between", "_buffer", "_data", "_first", "_limit", "_size", "_url", "done")

    def __init__(self, url: str, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.done = False
        self._url = url
        self._limit = max_event_bytes
        self._buffer = b""
        self._data: list[bytes] = []
        self._size = 0
        self._first = True
        self._between = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes and return the data of every event they complete; raises `BadResponse` if too large."""
        if self.done:
            return []
        if (
            self._between
            and chunk.startswith(b"data: {")
            and chunk.endswith(b"}\n\n")
            and chunk.find(b"\n") == len(chunk) - 2
            and b"\r" not in chunk
            and len(chunk) <= self._limit
        ):
            return [chunk[6:-2]]  # exactly one whole event, as most servers send a token
        buffer = self._buffer + chunk if self._buffer else chunk
        if self._first:
            if len(buffer) < 3 and b"\xef\xbb\xbf".startswith(buffer):
                self._buffer = buffer
                return []
            buffer = buffer.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        if b"\r" in buffer:
            # A CR at the very end may be half of a CRLF: it waits for the next bytes.
            held = buffer.endswith(b"\r")
            if held:
                buffer = buffer[:-1]
            buffer = buffer.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            lines = buffer.split(b"\n")
            self._buffer = lines.pop() + (b"\r" if held else b"")
        else:
            lines = buffer.split(b"\n")
            self._buffer = lines.pop()
        events = self._take(lines)
        self._between = not self._buffer and not self._data
        if len(self._buffer) + self._size > self._limit:
            raise BadResponse(self._url, f"an event is larger than {self._limit} bytes")
        return events

    def close(self) -> list[bytes]:
        """End the stream and return what its last, unfinished event holds."""
        if self.done:
            return []
        rest, self._buffer = self._buffer.rstrip(b"\r"), b""
        return self._take([rest, b""])

    def _take(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if not line:
                if data:
                    event = data[0] if len(data) == 1 else b"\n".join(data)
                    data.clear()
                    self._size = 0
                    if event.strip() == DONE:
                        self.done = True
                        break
                    events.append(event)
            elif line.startswith(b"data:"):
                value = line[6:] if line[5:6] == b" " else line[5:]
                data.append(value)
                self._size += len(value)
                if self._size > self._limit:
                    raise BadResponse(self._url, f"an event is larger than {self._limit} bytes")
        return events


class PlainReader:
    """Takes the place of `SSEReader` where a server answers a streamed request with one plain JSON body.

    Args:
        url: The reply's address, for errors.
        max_bytes: The largest body accepted, in bytes.
    """

    __slots__ = ("_body", "_limit", "_url", "done")

    def __init__(self, url: str, max_bytes: int = 16 * MAX_EVENT_BYTES) -> None:
        self.done = False
        self._body = bytearray()
        self._limit = max_bytes
        self._url = url

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take the next bytes; no event is complete before the end."""
        self._body += chunk
        if len(self._body) > self._limit:
            raise BadResponse(self._url, f"a reply of more than {self._limit} bytes")
        return []

    def close(self) -> list[bytes]:
        """End the reply and return its whole body as one event."""
        return [bytes(self._body)]
