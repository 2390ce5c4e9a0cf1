"""Work that goes on after its request: one job after another, found again after a restart."""

from __future__ import annotations

from .job import Job
from .queue import Jobs

__all__ = ["Job", "Jobs"]
