"""Answers under way: each runs apart from any connection, waits for its turn, and keeps its events for listeners."""

from __future__ import annotations

from .admission import Admission
from .registry import Runs
from .run import Run

__all__ = ["Admission", "Run", "Runs"]
