"""Who writes a partial message, so that the work of a process that is gone can be told from that of one that lives."""

from __future__ import annotations

import os
import platform
from functools import lru_cache
from pathlib import Path
from typing import Final

GIVEN_UP_AFTER: Final = 3600.0  # seconds: a partial message from another machine that is older was left by a dead one


def this_writer() -> str:
    """Return the name of this process: machine, boot, number and start."""
    return _writer(os.getpid())


@lru_cache(maxsize=1)
def _writer(pid: int) -> str:
    return "/".join((_machine(), str(pid), _start_of(pid)))


def is_gone(writer: str, begun: float, now: float) -> bool:
    """Tell whether a writer writes no more.

    Args:
        writer: What `this_writer` returned in it.
        begun: When its message was begun, in seconds since 1970 (UTC).
        now: The time now, in the same way.
    """
    process, _, start = writer.rpartition("/")
    machine, _, pid = process.rpartition("/")
    if machine != _machine() or not pid.isdecimal():
        return now - begun > GIVEN_UP_AFTER
    return _start_of(int(pid)) != start


@lru_cache(maxsize=1)
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
