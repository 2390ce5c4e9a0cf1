"""Correcting the estimate of tokens by what a server counted."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

# A prompt shorter than this says little: most of it may be the chat template.
LEAST_TOKENS: Final = 200
REPLIES_KEPT: Final = 16
REPLIES_NEEDED: Final = 3
MARGIN: Final = 1.05
LEAST_FACTOR: Final = 0.25


class EstimateCorrection:
    """Learns how far estimates are from a server's own counts, apart for East Asian and for other texts.

    An estimate that was too low is raised at once; one that was too high comes down when several replies agree, and
    never below the highest of them.
    """

    def __init__(self) -> None:
        self._ratios: dict[bool, deque[float]] = {kind: deque(maxlen=REPLIES_KEPT) for kind in (False, True)}

    def learn(self, text: str, estimate: int, counted: int) -> None:
        """Take note of a reply.

        Args:
            text: The prompt's text.
            estimate: The uncorrected estimate of its tokens.
            counted: The tokens the server counted.
        """
        if estimate >= LEAST_TOKENS and counted > 0:
            self._ratios[_is_east_asian(text)].append(counted / estimate)

    def apply(self, text: str, estimate: int) -> int:
        """Return a corrected estimate."""
        ratios = list(self._ratios[_is_east_asian(text)])
        if not ratios:
            return estimate
        factor = max(LEAST_FACTOR, max(ratios) * MARGIN)
        if factor < 1 and len(ratios) < REPLIES_NEEDED:
            return estimate
        return math.ceil(estimate * factor)


def _is_east_asian(text: str) -> bool:
    if text.isascii():
        return False
    wide = sum("\u2e80" <= char <= "\uffef" for char in text)
    return wide * 10 > len(text)
