"""Token counts kept by content."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence


class CountCache:
    """Keeps the token counts of texts by their hash, the least used forgotten first.

    Args:
        limit: Counts kept at most.
    """

    def __init__(self, limit: int = 200_000) -> None:
        self._limit = limit
        self._counts: OrderedDict[bytes, int] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, texts: Sequence[str], counts: Sequence[int]) -> None:
        """Keep the counts of `texts`."""
        with self._lock:
            for text, count in zip(texts, counts, strict=True):
                self._counts[_key(text)] = count
            while len(self._counts) > self._limit:
                self._counts.popitem(last=False)

    def get(self, text: str) -> int | None:
        """Return the count of `text`, or None."""
        key = _key(text)
        with self._lock:
            count = self._counts.get(key)
            if count is not None:
                self._counts.move_to_end(key)
            return count


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
