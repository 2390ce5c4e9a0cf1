"""How many threads a model server should use here."""

from __future__ import annotations

import os
import time
from pathlib import Path


def default_threads() -> int:
    """Return the physical cores this process may use and nothing else is using now, at least 1.

    A model's threads spin while they wait for each other, so one on a core that is taken slows all of them. It takes
    half a second to see what is taken.
    """
    cores = physical_cores()
    return max(1, min(cores, round(cores - busy_processors())))


def busy_processors(stat: Path = Path("/proc/stat"), *, seconds: float = 0.5) -> float:
    """Return how many processors are at work, on average over some seconds.

    Where that cannot be seen it is the average load of the last minute, which also counts what has just ended; 0 where
    not even that is known.

    Args:
        stat: Where the system counts its processors' time.
        seconds: How long to look.
    """
    before = _times(stat)
    if before is not None:
        time.sleep(seconds)
        after = _times(stat)
        if after is not None and after[1] > before[1]:
            return after[2] * (after[0] - before[0]) / (after[1] - before[1])
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):
        return 0.0


def _times(stat: Path) -> tuple[int, int, int] | None:
    """Return the time all processors were at work, all time, and the number of processors; None if it is not told."""
    lines = _read(stat).splitlines()
    fields = lines[0].split()[1:9] if lines else []
    if len(fields) < 5 or not all(field.isdigit() for field in fields):
        return None
    times = [int(field) for field in fields]
    idle = times[3] + times[4]
    return sum(times) - idle, sum(times), sum(line[:3] == "cpu" and line[3:4].isdigit() for line in lines)


def physical_cores(cpus: Path = Path("/sys/devices/system/cpu"), quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Return the physical cores this process may use, at least 1.

    Args:
        cpus: Where the system describes its processors.
        quota: Where a container's share is written.
    """
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    siblings = {_read(cpus / f"cpu{cpu}" / "topology" / "thread_siblings_list") or str(cpu) for cpu in allowed}
    cores = len(siblings)
    share = _read(quota).split()
    if len(share) == 2 and share[0].isdigit() and share[1].isdigit() and int(share[1]):
        cores = min(cores, int(share[0]) // int(share[1]))
    return max(1, cores)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
