"""Compact: pack the passages into as few prompts as they need, then refine over the packs."""

from __future__ import annotations

from typing import ClassVar

from .refine import Refine


class CompactAndRefine(Refine):
    """Pack the passages first, against the larger of the two templates, then refine over the packs.

    Exactly one call when everything fits into one prompt. The default mode.
    """

    mode: ClassVar[str] = "compact"
    packs_together: ClassVar[bool] = True
