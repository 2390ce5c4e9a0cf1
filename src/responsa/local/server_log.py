"""The log of a local server: where the caller wants it, or in a file that is kept while the server runs."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import BinaryIO, Final

from ..schema.errors import LocalServerFailed

TAIL_BYTES: Final = 16_384
# What llama-server's log marks its errors with.
_ERROR: Final = " E "


class ServerLog:
    """A server's log.

    Args:
        path: Where it goes; None makes a file that `remove` takes away.
    """

    def __init__(self, path: Path | None) -> None:
        self._is_ours = path is None
        if path is None:
            handle, name = tempfile.mkstemp(prefix="responsa-llama-server-", suffix=".log")
            os.close(handle)
            path = Path(name)
        self._path = path

    def open(self) -> BinaryIO:
        """Open it for what the server writes.

        Raises:
            LocalServerFailed: It cannot be written.
        """
        try:
            return self._path.open("ab")
        except OSError as error:
            raise LocalServerFailed(f"{self._path}: {error.strerror}") from error

    def tail(self) -> str:
        """Return its end."""
        try:
            with self._path.open("rb") as file:
                file.seek(max(0, self._path.stat().st_size - TAIL_BYTES))
                return file.read().decode("utf-8", "replace")
        except OSError:
            return ""

    def last_errors(self) -> str:
        """Return the last errors in it, or its last line if there are none, as one line."""
        lines = self.tail().splitlines()
        shown = [line for line in lines if _ERROR in line] or [line for line in lines if line.strip()][-1:]
        return " / ".join(" ".join(line.partition(_ERROR)[2].split() or line.split()) for line in shown[-3:])

    def remove(self) -> None:
        """Take the file away if the caller named none."""
        if self._is_ours:
            self._path.unlink(missing_ok=True)
