"""Counts are kept by content, and the least used are forgotten first."""

from __future__ import annotations

from responsa.tokens.count_cache import CountCache


def test_a_count_is_found_by_equal_content() -> None:
    cache = CountCache()
    cache.keep(["a b", "\ud800"], [2, 1])
    assert (cache.get("a" + " b"), cache.get("\ud800"), cache.get("c")) == (2, 1, None)


def test_the_least_used_is_forgotten_first() -> None:
    cache = CountCache(limit=2)
    cache.keep(["a", "b"], [1, 2])
    assert cache.get("a") == 1
    cache.keep(["c"], [3])
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3)
