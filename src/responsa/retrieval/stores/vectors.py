"""Vectors as stores take them: 32-bit floats of length one, checked."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Final

from responsa.schema.errors import EmbeddingFailed, EmbeddingMismatch

from .contract import Store

NEAR_ONE: Final = 1e-6
"""What 32-bit floats cannot tell from nothing."""


def unit_vector(vector: Sequence[float]) -> array[float]:
    """Return a vector scaled to length one, or as it is where it is all zeros.

    Raises:
        EmbeddingFailed: It holds something that is not a finite number.
    """
    try:
        length = math.hypot(*vector)
    except TypeError:
        length = math.nan
    if not math.isfinite(length):
        raise EmbeddingFailed("a vector holds something that is not a finite number.")
    if length == 0 or abs(length - 1) < NEAR_ONE:
        return array("f", vector)
    return array("f", [number / length for number in vector])


def checked_vector(vector: Sequence[float], store: Store, given_model: str | None = None) -> array[float]:
    """Return a vector as a store takes it: of length one, and of as many numbers as the store's.

    Raises:
        EmbeddingMismatch: It has not the store's number of dimensions.
        EmbeddingFailed: It holds something that is not a finite number.
    """
    meta = store.meta
    if len(vector) != meta.dimensions:
        raise EmbeddingMismatch(
            store.location, meta.embed_model, meta.dimensions, given_model or meta.embed_model, len(vector)
        )
    return unit_vector(vector)
