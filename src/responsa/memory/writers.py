"""Who writes a partial message, so that the work of a process that is gone can be told from that of one that lives."""

from __future__ import annotations

import os
import platform
from itertools import count
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

GIVEN_UP_AFTER: Final = 3600.0  # seconds: a partial message from another machine that is older was left by a dead one


_numbers = count()
# Who of this process still writes, by the writer's name, for as long as anyone can go on with it.
_open_here: Final[WeakValueDictionary[str, object]] = WeakValueDictionary()


def new_writer() -> str:
    """Return a name that no other writer has: machine, process, its start, and a number of its own."""
    return f"{_process}/{next(_numbers)}"


def is_of_this_process(writer: str) -> bool:
    """Tell whether `new_writer` made this name in this process."""
    return writer.rpartition("/")[0] == _process


def keep_open(writer: str, holder: object) -> None:
    """Note that a writer of this process writes for as long as `holder` is there."""
    _open_here[writer] = holder


def leave(writer: str) -> None:
    """Note that a writer of this process writes no more."""
    _open_here.pop(writer, None)


def is_open(writer: str) -> bool:
    """Tell whether a writer of this process still writes."""
    return writer in _open_here


def is_gone(writer: str, begun: float, now: float) -> bool:
    """Tell whether a writer's process is gone, or is on another machine and has been silent for an hour.

    Args:
        writer: What `new_writer` returned in it.
        begun: When its message was begun, in seconds since 1970 (UTC).
        now: The time now, in the same way.
    """
    parts = writer.rsplit("/", 3)
    if len(parts) != 4 or parts[0] != _MACHINE or not parts[1].isdecimal():
        return now - begun > GIVEN_UP_AFTER
    return _start_of(int(parts[1])) != parts[2]


def _machine() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        space = Path("/proc/self/ns/pid").readlink()
    except OSError:  # not a Linux: the name alone
        return platform.node()
    return f"{platform.node()}:{boot}:{space}"


def _start_of(pid: int) -> str:
    """Return when a process was started, in its system's own words; empty where it is gone."""
    try:
        # The name of the program, in parentheses, may hold anything; state and start stand behind it.
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    except FileNotFoundError:
        return "" if Path("/proc/self").exists() else _answers(pid)
    except (OSError, IndexError):
        return ""


def _answers(pid: int) -> str:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return "there"
    except OSError:
        return ""
    return "there"


def _name_process() -> None:
    global _process
    _process = f"{_MACHINE}/{os.getpid()}/{_start_of(os.getpid())}"


# Read once and beforehand: an event loop must not wait for files.
_MACHINE: Final = _machine()
_process: str
_name_process()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_name_process)
