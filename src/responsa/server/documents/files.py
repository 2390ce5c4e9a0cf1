"""The contents of documents on the disk, under names of the service's own making."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path
from typing import BinaryIO, Final

from responsa.schema.errors import RecordsUnavailable

_PIECE_BYTES: Final = 1_048_576


class ContentFiles:
    """Keeps one content for each document.

    Args:
        root: The directory; made when it is first written to.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def take_in(self, content: BinaryIO) -> tuple[Path, int, str]:
        """Copy a content to a new file; return the file, its bytes and their SHA-256.

        Raises:
            RecordsUnavailable: It cannot be written.
        """
        digest, size = hashlib.sha256(), 0
        try:
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self._root / f"incoming-{secrets.token_hex(16)}"
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                while piece := content.read(_PIECE_BYTES):
                    file.write(piece)
                    digest.update(piece)
                    size += len(piece)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise RecordsUnavailable(str(self._root), error.strerror or str(error)) from error
        return path, size, digest.hexdigest()

    def keep(self, taken_in: Path, document_id: str) -> None:
        """Make a file that was taken in the content of a document."""
        try:
            taken_in.replace(self.path_of(document_id))
        except OSError as error:
            raise RecordsUnavailable(str(self._root), error.strerror or str(error)) from error

    def path_of(self, document_id: str) -> Path:
        """Return where a document's content is; its identity is one that `new_id` made."""
        return self._root / f"content-{document_id}"

    def remove(self, document_id: str) -> None:
        """Remove a document's content if it is there."""
        self.path_of(document_id).unlink(missing_ok=True)
