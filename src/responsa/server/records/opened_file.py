"""A database's file that is no longer where it was opened: what is written to it then would be lost."""

from __future__ import annotations

from pathlib import Path
from typing import Final

MOVED: Final = "the file was moved or replaced while it was in use; start the service again"


class OpenedFile:
    """Remembers which file stands at a path.

    Args:
        path: The path of a file that is open.

    Raises:
        OSError: There is none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)

    def is_there(self) -> bool:
        """Tell whether it still stands there."""
        try:
            return _identity(self._path) == self._identity
        except OSError:
            return False


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
