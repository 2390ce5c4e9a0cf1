"""A file of changes that several processes append to and read: locked while written, whole after any crash."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from responsa.schema.errors import ChatStoreDamaged, ChatStoreUnavailable, ChatStoreVersionMismatch
from responsa.schema.stored import new_id

from .conversations import Conversations
from .file_lock import file_lock
from .recording import apply, snapshot

Append: TypeAlias = Callable[[Sequence[str], bool], None]
_FORM: Final = "responsa-chat"
_VERSION: Final = 1
_WORTH_REWRITING: Final = 1_000_000  # bytes of changes behind what was written in one go


class JournalFile:
    """Conversations in a file of JSON lines: a header, then a line for each change.

    A line counts once its end is written; what a crash left of one is cut off by the next writer. A file that has more
    than doubled is written anew beside itself and moved into place: its header, which has another identity then, tells
    the readers.

    Args:
        path: The file. It is made with the first change; its directory must be there.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._forget()

    def read(self) -> Conversations:
        """Return the conversations as the file has them now."""
        with self._mapped():
            self._catch_up()
        return self._held

    @contextmanager
    def writing(self) -> Iterator[tuple[Conversations, Append]]:
        """Lock the file; yield the conversations and what appends the lines of changes made to them.

        Where the lines cannot be written, or the block fails, the changes are forgotten.
        """
        try:
            with self._mapped(), file_lock(self._path.with_name(f"{self._path.name}.lock")):
                self._catch_up()
                yield self._held, self._append
        except BaseException:
            self._forget()
            raise

    def _forget(self) -> None:
        self._held = Conversations(str(self._path))
        self._header = b""
        self._end = 0
        self._number = 0
        self._rewrite_at = 0

    def _catch_up(self) -> None:
        """Make the changes that the file records and that were not made yet."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            self._forget()
            return
        with file:
            header = file.readline()
            if not header.endswith(b"\n"):
                self._forget()  # a crash left a file without a beginning
                return
            if header != self._header:
                self._forget()
                self._begin(header)
            file.seek(self._end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                try:
                    apply(line, self._held)
                except ValueError as error:
                    raise ChatStoreDamaged(str(self._path), f"line {self._number + 1}: {error}") from error
                self._number += 1
                self._end += len(line)

    def _begin(self, header: bytes) -> None:
        try:
            form, version, _, written = json.loads(header)
            if form != _FORM or not isinstance(version, int) or not isinstance(written, int):
                raise ValueError("another form")
        except (ValueError, TypeError) as error:
            raise ChatStoreDamaged(str(self._path), f"line 1: {error}") from error
        if version > _VERSION:
            raise ChatStoreVersionMismatch(str(self._path), str(version), str(_VERSION))
        self._header = header
        self._end = len(header)
        self._number = 1
        self._rewrite_at = 2 * written + _WORTH_REWRITING

    def _append(self, lines: Sequence[str], durable: bool) -> None:
        if not lines:
            return
        if not self._header:
            self._write_anew()  # with the changes in it
            return
        data = "".join(f"{line}\n" for line in lines).encode("ascii")
        with self._path.open("r+b") as file:
            file.truncate(self._end)
            file.seek(self._end)
            try:
                file.write(data)
                _settle(file, durable)
            except OSError:
                with suppress(OSError):
                    file.truncate(self._end)
                raise
        self._end += len(data)
        self._number += len(lines)
        if self._end > self._rewrite_at:
            with suppress(OSError):  # such as a full disk: what there is stays as it is
                self._write_anew()

    def _write_anew(self) -> None:
        header, end = write_whole(self._path, self._held)
        self._begin(header)
        self._end = end
        self._number += len(self._held.sessions)

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ChatStoreUnavailable(str(self._path), error.strerror or str(error)) from error


def write_whole(path: Path, held: Conversations) -> tuple[bytes, int]:
    """Write conversations to a file in the place of what it held; return its header and its size in bytes."""
    body = "".join(f"{line}\n" for line in snapshot(held)).encode("ascii")
    header = json.dumps([_FORM, _VERSION, new_id(), len(body)]).encode("ascii") + b"\n"
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(header + body)
            _settle(file, durable=True)
        beside.replace(path)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        raise
    if os.name != "nt":
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    return header, len(header) + len(body)


def _settle(file: BinaryIO, durable: bool) -> None:
    """Hand the file's content to the system, and to the disk if it is to outlive the machine's power."""
    file.flush()
    if durable:
        os.fsync(file.fileno())
