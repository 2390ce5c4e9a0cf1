"""How many threads a model server should use here."""

from __future__ import annotations

import os
from pathlib import Path


def default_threads() -> int:
    """Return the physical cores this process may use and nothing else is using now, at least 1.

    A model's threads spin while they wait for each other, so one on a core that is taken slows all of them.
    """
    cores = physical_cores()
    try:
        busy = os.getloadavg()[0]
    except (AttributeError, OSError):
        busy = 0.0
    return max(1, min(cores, round(cores - busy)))


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
