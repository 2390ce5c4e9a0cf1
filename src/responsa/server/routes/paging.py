"""Pages of a list: where one begins, and where the next one does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

Offset = Annotated[int, Query(ge=0, le=10_000_000, description="Where the page begins.")]


def next_offset(found: Sequence[object], limit: int, offset: int) -> int | None:
    """Return where the next page begins, or None where this one is the last.

    Args:
        found: What begins at `offset`: one more than the page holds, where there is one.
        limit: The most that the page holds.
        offset: Where the page begins.
    """
    return offset + limit if len(found) > limit else None
