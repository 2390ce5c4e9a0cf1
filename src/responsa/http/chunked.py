"""The body of a reply sent in chunks (RFC 9112, section 7.1), read as it arrives."""

from __future__ import annotations

import re
from typing import Final

# A chunk's size in hexadecimal digits, and an extension, which is passed over.
_SIZE_LINE: Final = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")
_DIGITS: Final = b"0123456789abcdefABCDEF"
_LONGEST_LINE: Final = 4096


class NotChunked(Exception):
    """The bytes are no chunks."""


def _one_chunk(data: bytes) -> bytes:
    """Return what one whole chunk and nothing else holds, as streamed tokens mostly come; else nothing."""
    size = data[: data.find(b"\r\n")]
    if not 0 < len(size) <= 8 or size.strip(_DIGITS) or not data.endswith(b"\r\n"):
        return b""
    return data[len(size) + 2 : -2] if len(data) == len(size) + 4 + int(size, 16) else b""


class ChunkedDecoder:
    """Takes a body's bytes as they come and gives what the chunks hold."""

    def __init__(self) -> None:
        self.done = False
        self._buffer = b""
        self._left = 0
        self._in_trailer = False

    @property
    def rest(self) -> bytes:
        """What came after the body's end."""
        return self._buffer

    def feed(self, data: bytes) -> bytes:
        """Return the content of what has come; `done` tells that the body has ended.

        Raises:
            NotChunked: A size, or the end of a chunk, is not where it has to be.
        """
        if not self._buffer and not self._left and not self._in_trailer and (content := _one_chunk(data)):
            return content
        buffer = self._buffer + data if self._buffer else data
        at, end = 0, len(buffer)
        found: list[bytes] = []
        while at < end and not self.done:
            if self._left > 2:
                taken = min(self._left - 2, end - at)
                found.append(buffer[at : at + taken])
                self._left -= taken
                at += taken
            elif self._left:
                if end - at < self._left:
                    break
                if buffer[at : at + 2] != b"\r\n":
                    raise NotChunked("a chunk does not end where its size says")
                self._left = 0
                at += 2
            else:
                line_end = buffer.find(b"\n", at) + 1
                if not line_end:
                    if end - at > _LONGEST_LINE:
                        raise NotChunked("a chunk's head is too long")
                    break
                at = self._read_line(buffer, at, line_end)
        self._buffer = buffer[at:]
        return found[0] if len(found) == 1 else b"".join(found)

    def _read_line(self, buffer: bytes, at: int, line_end: int) -> int:
        if self._in_trailer:
            self.done = buffer[at:line_end] == b"\r\n"
            return line_end
        size = _SIZE_LINE.fullmatch(buffer, at, line_end)
        if size is None:
            raise NotChunked("a chunk begins without its size")
        length = int(size[1], 16)
        self._in_trailer = length == 0
        self._left = length + 2 if length else 0  # with the line end after it
        return line_end
