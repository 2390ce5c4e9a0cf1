"""Compact: pack the passages into as few prompts as they need, then refine over the packs."""

from __future__ import annotations

from typing import ClassVar

from responsa.packing.packer import Counted, pack
from responsa.packing.passages import Pack
from responsa.programs import Program

from .refine import Refine


class CompactAndRefine(Refine):
    """Pack the passages first, against the larger of the two templates, then refine over the packs.

    Exactly one call when everything fits into one prompt. The default mode.
    """

    mode: ClassVar[str] = "compact"

    def _pack(self, counted: Counted, room: int) -> Program[list[Pack]]:
        return pack(counted, room)
