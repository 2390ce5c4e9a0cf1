"""The border between the commands and the shell: languages, errors and exit codes."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from responsa.schema.errors import MissingExtra, ResponsaError, UsageError

from .language import take_language
from .log_view import log_shown
from .terminal import Terminal

if TYPE_CHECKING:
    from .parts import Parts

FAILED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130


def main(argv: Sequence[str] | None = None, *, parts: Parts | None = None) -> int:
    """Run the terminal program and return its exit code.

    Args:
        argv: The words after the program's name; those of this process where None.
        parts: Where models and indexes come from; the real ones where None.

    Returns:
        0; 1 if something failed; 2 if the call was wrong; 130 after an interrupt.
    """
    _never_fail_to_print()
    words = sys.argv[1:] if argv is None else argv
    terminal = Terminal("en", parts)
    # Known before the words are understood, since what is wrong with them is told as JSON too.
    terminal.as_json = "--json" in takewhile(lambda word: word != "--", words)
    try:
        with log_shown(terminal):
            return _run_and_tell(words, terminal)
    except KeyboardInterrupt:
        if argv is None:
            # Threads are still ending: a second Ctrl-C then ends the process at once, without a word.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        with suppress(OSError):
            terminal.interrupted()
        return INTERRUPTED
    except OSError as error:
        if error.errno == errno.EPIPE:
            _discard_output()
        else:
            terminal.as_json = False  # standard output itself may be what failed
            terminal.error(_of_system(error))
        return FAILED


def _run_and_tell(words: Sequence[str], terminal: Terminal) -> int:
    """Run one command; tell of what the package itself says is wrong, and of files that cannot be had."""
    try:
        language, rest = take_language(words, os.environ)
        terminal.language = language
        return _run(rest, terminal)
    except ResponsaError as error:
        terminal.error(error.render(terminal.language), error.code, error.details())
        return WRONG_USE if isinstance(error, UsageError) else FAILED
    except OSError as error:
        if error.filename is None:
            raise
        terminal.error(_of_system(error), "system_error")
        return FAILED


def _of_system(error: OSError) -> str:
    return ": ".join(str(part) for part in (error.filename, error.strerror or error) if part)


def _run(words: Sequence[str], terminal: Terminal) -> int:
    for package in ("typer", "rich"):
        if find_spec(package) is None:
            raise MissingExtra("responsa (CLI)", "local")
    from .app import command
    from .running import run

    return run(command(terminal), words, terminal)


def _never_fail_to_print() -> None:
    """Let characters that the terminal's encoding lacks be shown as escapes, and outputs that are closed take all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - it stands in for the stream until the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Give up a standard output whose reader has gone, so that nothing is said about it at the exit either."""
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
