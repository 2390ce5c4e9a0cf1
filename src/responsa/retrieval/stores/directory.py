"""The directory of an index: what stands in it, its manifest, and the lock of its writer."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from responsa.schema.errors import (
    IndexDamaged,
    IndexLocked,
    IndexNotFound,
    IndexNotWritable,
    IndexVersionMismatch,
    InvalidOption,
    ResponsaError,
)

from .contract import FORMAT_VERSION, StoreMeta

MANIFEST: Final = "manifest.json"
_TABLE_DIRECTORY: Final = "passages.lance"
_LOCK: Final = ".lock"
_SOURCE_PLACE: Final = re.compile(r",?\s*\S*/\S+\.rs:\d+(:\d+)?")


class IndexDirectory:
    """A directory that holds an index, or may come to hold one.

    The manifest is written last when an index is made, in one step: a directory without one holds no index.

    Args:
        path: The directory; it need not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __str__(self) -> str:
        return str(self.path)

    def exists(self) -> bool:
        """Return whether the directory holds an index.

        Raises:
            InvalidOption: It is no directory.
            IndexDamaged: It cannot be looked into, or its manifest is no file.
        """
        with self.reading():
            self._check_no_file()
            manifest = self.path / MANIFEST
            if manifest.exists() and not manifest.is_file():
                # Reading a pipe would wait for ever.
                raise IndexDamaged(str(self), f"{MANIFEST} is no file")
            return manifest.exists()

    def check_free(self) -> None:
        """Check that an index can be made here.

        Raises:
            InvalidOption: It is a file, or the directory holds other files.
        """
        with self.reading():
            self._check_no_file()
            names = {entry.name for entry in self.path.iterdir()} if self.path.exists() else set()
        if names - {_LOCK, _TABLE_DIRECTORY} - {name for name in names if name.startswith(MANIFEST)}:
            raise InvalidOption("persist_dir", str(self), "a new or empty directory, or one with an index")

    def clear_unfinished(self) -> None:
        """Remove the table of a making that was interrupted, which may be in pieces. Needs the lock.

        Raises:
            IndexDamaged: It has passages in it, and so is not ours to remove.
            IndexNotWritable: It cannot be removed.
        """
        table = self.path / _TABLE_DIRECTORY
        with self.reading():
            if any(table.glob("data/*")):
                raise IndexDamaged(str(self), f"{MANIFEST} is missing")
        with self.writing():
            if table.exists():
                shutil.rmtree(table)

    def read_manifest(self) -> StoreMeta:
        """Return what the manifest says.

        Raises:
            IndexNotFound: There is none.
            IndexVersionMismatch: It has another form.
            IndexDamaged: It cannot be read.
        """
        if not self.exists():
            if (self.path / _TABLE_DIRECTORY).exists():
                raise IndexDamaged(str(self), f"{MANIFEST} is missing")
            raise IndexNotFound(str(self))
        with self.reading():
            values = json.loads((self.path / MANIFEST).read_text("utf-8"))
            found = values.get("format_version") if isinstance(values, dict) else None
            if not isinstance(found, str):
                raise IndexDamaged(str(self), f"{MANIFEST} does not say its format_version")
            if found != FORMAT_VERSION:
                raise IndexVersionMismatch(str(self), found, FORMAT_VERSION)
            model, dimensions = values.get("embed_model"), values.get("dimensions")
            if not isinstance(model, str) or not isinstance(dimensions, int) or dimensions < 1:
                raise IndexDamaged(str(self), f"{MANIFEST} does not say its embedding model")
        return StoreMeta(model, dimensions, found)

    def write_manifest(self, meta: StoreMeta) -> None:
        """Write the manifest in one step, from which on the directory holds an index.

        Raises:
            IndexNotWritable: The directory cannot be written.
        """
        new = self.path / f"{MANIFEST}.new"
        with self.writing():
            with new.open("w", encoding="utf-8") as file:
                json.dump(asdict(meta), file, indent=2, ensure_ascii=False)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path / MANIFEST)

    def _check_no_file(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise InvalidOption("persist_dir", str(self), "a directory, not a file")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Take the right to write until the context ends or the process dies; the directory is made if need be.

        Raises:
            IndexLocked: Another writer has it, in this process or another.
            IndexNotWritable: The directory cannot be written.
        """
        with self.writing():
            self.path.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            with self.writing():
                try:
                    _lock_file(handle)
                except (BlockingIOError, PermissionError):
                    raise IndexLocked(str(self)) from None
            yield
        finally:
            os.close(handle)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn what goes wrong while reading into IndexDamaged."""
        try:
            yield
        except ResponsaError:
            raise
        except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
            raise IndexDamaged(str(self), _reason(error)) from error

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn what goes wrong while writing into IndexNotWritable."""
        try:
            yield
        except ResponsaError:
            raise
        except (OSError, RuntimeError, ValueError) as error:
            raise IndexNotWritable(str(self), _reason(error)) from error


if sys.platform == "win32":
    import msvcrt

    def _lock_file(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock_file(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _reason(error: BaseException) -> str:
    """Return the first line of an error, without the places in the source that the Rust libraries add."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = _SOURCE_PLACE.sub("", str(error)).strip() or type(error).__name__
    return text.splitlines()[0][:500].rstrip(".")
