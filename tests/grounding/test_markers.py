"""Markers: every form a model writes them in, and what only looks like one."""

from __future__ import annotations

import pytest

from responsa.grounding import find_markers, unknown_numbers, without_markers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("So it is [1].", [(1,)]),
        ("So it is. [1]", [(1,)]),
        ("So [1, 3], and [2][4].", [(1, 3), (2,), (4,)]),
        ("So [ 1 ,2 ].", [(1, 2)]),
        ("如此【2】。", [(2,)]),
        ("如此【1，2、3】。", [(1, 2, 3)]),
        ("So 【1].", [(1,)]),
        ("[12]", [(12,)]),
    ],
)
def test_a_marker_is_read_in_every_form(text: str, numbers: list[tuple[int, ...]]) -> None:
    markers = find_markers(text)
    assert [marker.numbers for marker in markers] == numbers
    assert all(text[marker.start] in "[【" and text[marker.end - 1] in "]】" for marker in markers)


@pytest.mark.parametrize(
    "text",
    [
        "[a]",
        "[]",
        "[1",
        "1]",
        "[1.5]",
        "[-1]",
        "[12345]",
        "[1](http://example.org)",
        "`v[1]`",
        "``v[1]``",
        "```\nv[1]\nw[2]\n```",
        "```\nv[1] without an end",
        "````\n```\nv[1]\n```\nw[2]\n````",
        "`v[1] without an end",
        "~~~\nv[1]\n~~~",
        "~~~\nv[1] without an end",
    ],
)
def test_what_only_looks_like_a_marker_is_none(text: str) -> None:
    assert find_markers(text) == []


def test_markers_around_code_are_read() -> None:
    text = "Use `v[1]` [2].\n```\nw[3]\n```\nDone [4]. A ` tick [5]\nnext line [6]"
    assert [marker.numbers for marker in find_markers(text)] == [(2,), (4,), (6,)]


def test_a_text_without_its_markers_keeps_everything_else() -> None:
    text = "So [1] it `v[1]` is [2, 3]."
    assert without_markers(text, find_markers(text)) == "So  it `v[1]` is ."
    assert without_markers(text[3:], find_markers(text), offset=3) == " it `v[1]` is ."


def test_numbers_that_were_not_shown_are_named_once_in_order() -> None:
    assert unknown_numbers("A [1]. B [9, 2]. C [9] `v[7]` [4].", {1, 2}) == [9, 4]
