"""Compact accumulate: pack over all passages, then one independent answer a pack."""

from __future__ import annotations

from typing import ClassVar

from .accumulate import Accumulate


class CompactAndAccumulate(Accumulate):
    """Pack the passages into as few prompts as they need, then ask the question of every pack on its own."""

    mode: ClassVar[str] = "compact_accumulate"
    packs_together: ClassVar[bool] = True
