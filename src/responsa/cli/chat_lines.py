"""The lines of a conversation: typed with a history that is kept, or read from another program."""

from __future__ import annotations

import io
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Final, TextIO

from .interrupts import Ended

if TYPE_CHECKING:
    from .terminal import Terminal

PROMPT: Final = "> "
HISTORY_LINES: Final = 1000
# What is read of a line from another program, in bytes: enough to see that it is too long.
MAX_LINE_BYTES: Final = 8_000_000


class Lines(ABC):
    """Gives one line after another."""

    interactive: ClassVar[bool]

    @abstractmethod
    def next(self) -> str | None:
        """Return the next line, without its end; None at the end of all."""


class TypedLines(Lines):
    """Lines that a person types. Ctrl-C gives up the line and not the conversation."""

    interactive = True

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def next(self) -> str | None:
        while True:
            try:
                # Half a character, or none, may be typed: nothing that is stored can hold it.
                return self._typed().encode("utf-8", "replace").decode("utf-8")
            except EOFError:
                self._terminal.remark("")
                return None
            except Ended:
                raise
            except KeyboardInterrupt:
                self._terminal.remark("")
                self._terminal.note("chat_at_prompt")

    def _typed(self) -> str:
        if sys.stdout.isatty():
            return input(PROMPT)
        self._terminal.remark(PROMPT, "", end="")  # answers go elsewhere, and only they
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.removesuffix("\n")


class PipedLines(Lines):
    """Lines of a file or another program."""

    interactive = False

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def next(self) -> str | None:
        line = rest = self._stream.readline(MAX_LINE_BYTES)
        while rest and not rest.endswith(b"\n"):
            rest = self._stream.readline(MAX_LINE_BYTES)
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None


@contextmanager
def lines_of(stream: TextIO, terminal: Terminal) -> Iterator[Lines]:
    """Give the lines of standard input."""
    if not stream.isatty():
        yield PipedLines(stream.buffer)
        return
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    from responsa.local.user_dirs import data_dir

    with _history(data_dir() / "chat_history"):
        yield TypedLines(terminal)


@contextmanager
def _history(path: Path) -> Iterator[None]:
    """Offer the lines typed before, and keep those typed now. Where there is no readline, or no place, go without."""
    try:
        import readline
    except ImportError:
        yield
        return
    with suppress(OSError):
        readline.read_history_file(path)
    readline.set_history_length(HISTORY_LINES)
    begun = readline.get_current_history_length()
    try:
        yield
    finally:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            if hasattr(readline, "append_history_file"):  # so that two conversations at once keep the lines of both
                readline.append_history_file(readline.get_current_history_length() - begun, path)
            else:
                readline.write_history_file(path)
