"""Reads a file's bytes, as many as are allowed, and waits for nothing that is no file."""

from __future__ import annotations

import os
import stat
from io import BufferedIOBase
from pathlib import Path
from typing import Final

from responsa.schema.errors import ReadingFailed

_PIECE_BYTES: Final = 262_144


def shown(path: Path) -> str:
    """Return a path as text for people; bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Return a regular file's content.

    Args:
        path: The file.
        max_bytes: The most bytes it may have.

    Raises:
        ReadingFailed: It is missing, too large, cannot be opened, or is no regular file; a pipe is never waited for.
    """
    try:
        # O_NONBLOCK: opening a pipe that nobody writes to must not wait.
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        try:
            status = os.fstat(opened)
            if stat.S_ISDIR(status.st_mode):
                raise ReadingFailed(shown(path), "directory")
            if not stat.S_ISREG(status.st_mode):
                raise ReadingFailed(shown(path), "special_file")
            if status.st_size > max_bytes:
                raise ReadingFailed(shown(path), "too_large", str(status.st_size))
            with open(opened, "rb", closefd=False) as file:
                data = read_at_most(file, max_bytes + 1)
        finally:
            os.close(opened)
    except FileNotFoundError:
        raise ReadingFailed(shown(path), "missing") from None
    except OSError as error:
        raise ReadingFailed(shown(path), "unreadable", reason_of(error)) from None
    if len(data) > max_bytes:
        raise ReadingFailed(shown(path), "too_large", f"{max_bytes}+")
    return data


def read_at_most(file: BufferedIOBase, limit: int) -> bytes:
    """Return a file's content up to `limit` bytes, without setting aside memory for all of them."""
    pieces: list[bytes] = []
    while limit > 0 and (piece := file.read(min(limit, _PIECE_BYTES))):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def reason_of(error: OSError) -> str:
    """Return the system's own words for an error."""
    return error.strerror or type(error).__name__
