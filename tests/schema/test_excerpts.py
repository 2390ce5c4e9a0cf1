"""A text's beginning in one line."""

from __future__ import annotations

import pytest

from responsa.schema.excerpts import excerpt


@pytest.mark.parametrize(
    ("text", "characters", "shown"),
    [
        ("", 10, ""),
        ("as it is", 10, "as it is"),
        ("on  two\n lines", 20, "on two lines"),
        ("exactly 10", 10, "exactly 10"),
        ("more than ten", 10, "more than…"),
        ("ends at a blank", 8, "ends at…"),
        ("你好，世界", 3, "你好…"),
        (" " * 100 + "x", 10, "…"),
        ("x" * 1000, 3, "xx…"),
    ],
)
def test_an_excerpt_is_one_line_of_at_most_so_many_characters(text: str, characters: int, shown: str) -> None:
    assert excerpt(text, characters) == shown
    assert len(shown) <= characters


def test_what_ends_it_is_chosen() -> None:
    assert excerpt("a long line of text", 10, mark="...") == "a long..."
