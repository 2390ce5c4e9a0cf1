"""Sentence ends in English, Chinese and mixed text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.tokens.sentences import split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("所有权规则。它很重要！真的吗？是的", ["所有权规则。", "它很重要！", "真的吗？", "是的"]),
        ("他说：“你好。”然后走了。", ["他说：“你好。”", "然后走了。"]),
        ("第一；第二……第三", ["第一；", "第二……", "第三"]),
        ('He said "Go." Then he left.', ['He said "Go." ', "Then he left."]),
        ("It is (really.) Fine.", ["It is (really.) ", "Fine."]),
        ("真的吗？！不会吧", ["真的吗？！", "不会吧"]),
        ("**Bold.** Next.", ["**Bold.** ", "Next."]),
        ("使用 Rust 语言.然后编译!好的", ["使用 Rust 语言.", "然后编译!", "好的"]),
    ],
)
def test_a_stop_ends_a_sentence_with_its_closing_quotes(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith and Mrs. Jones met Prof. Lee.",
        "Pi is about 3.14 and e about 2.71.",
        "Since v1.2 and Python 3.11.4 it works.",
        "Use a list, e.g. Vec, or an array, i.e. a fixed one.",
        "J. K. Rowling wrote it.",
        "The U.S. Government agreed.",
        "See Fig. 3 and No. 5 of vol. 2.",
        "Klabnik et al. Wrote a book.",
        "Open https://example.org/a.b?c=d!e and file.tar.gz now.",
        "It took 5 min. and then stopped...",
        'Then "Really?" he asked.',
        "版本 3.11 的 std::fs::read 函数很快。",
    ],
)
def test_a_stop_inside_a_name_number_or_abbreviation_ends_nothing(text: str) -> None:
    assert sentences(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is so.[1][2] Next.", ["It is so.[1][2] ", "Next."]),
        ("It is so. [1, 3] Next.", ["It is so. [1, 3] ", "Next."]),
        ("事实如此。[1]下一句【2】。完", ["事实如此。[1]", "下一句【2】。", "完"]),
        ("It is so [1]. Next.", ["It is so [1]. ", "Next."]),
    ],
)
def test_reference_marks_stay_with_the_sentence_they_follow(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A heading\n\nA paragraph", ["A heading\n\n", "A paragraph"]),
        ("Steps:\n1. Open it\n2. Close it", ["Steps:\n", "1. Open it\n", "2. Close it"]),
        ("要点\n- 甲\n- 乙\n\n结论", ["要点\n", "- 甲\n", "- 乙\n\n", "结论"]),
        ("一、概述\n二、安装", ["一、概述\n", "二、安装"]),
        ("# A heading that is rather longer than the usual one\ntext", None),
        ("| a row of a table with quite some text | b |\n| c | d |", None),
        ("\r\nOne\r\nTwo", ["\r\nOne\r\n", "Two"]),
    ],
)
def test_blank_lines_list_items_headings_and_rows_end_a_sentence(text: str, expected: list[str] | None) -> None:
    assert sentences(text) == (expected or text.splitlines(keepends=True))


def test_a_line_break_in_wrapped_prose_ends_nothing() -> None:
    wrapped = "Ownership is a set of rules that govern how a Rust program\nmanages memory, and it is checked. Next."
    assert sentences(wrapped) == [wrapped[: wrapped.index("Next")], "Next."]
    chinese = "所有权是一组控制程序如何管理内存的规则，所有的程序都必须管理其运行时\n使用计算机内存的方式。"
    assert sentences(chinese) == [chinese]


def test_a_quotation_is_read_like_the_prose_it_is() -> None:
    quoted = "> Continuing the analogy, consider a server at a restaurant\n> taking orders.\n>\n> Next paragraph"
    assert sentences(quoted) == [quoted[: quoted.index(">\n>")], ">\n", "> Next paragraph"]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "...", "。", "\ud800.", "…\n…"])
def test_odd_texts_are_covered(text: str) -> None:
    assert "".join(sentences(text)) == text


ODD = st.sampled_from('ab A.。!？…"”)[1]\n \t。-#|三é👍🏽\r\u2028')


@given(st.text(ODD, max_size=200) | st.text(max_size=200))
def test_ranges_follow_one_another_and_cover_the_text(text: str) -> None:
    ranges = split_sentences(text)
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges)][: len(ranges)]
    assert "".join(sentences(text)) == text
    assert all(start < end for start, end in ranges)
    assert all(text[start:end].strip() for start, end in ranges) or len(ranges) == 1


@pytest.mark.timeout(120)
@pytest.mark.parametrize("unit", [" ", ".", "\n", "a", "。", "1.", '"', "[1]", ".[1", "a. ", "\r\n ", "\t\n"])
def test_a_million_characters_without_structure_take_no_quadratic_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert split_sentences(text)[-1][1] == len(text)
