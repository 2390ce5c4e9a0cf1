"""The estimate of tokens is an upper one and knows scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.tokens.estimate import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens_of_real_models"),
    [
        ("", 0),
        ("Ownership is a set of rules that govern how a Rust program manages memory.", 15),
        ("所有权是一组控制程序如何管理内存的规则。", 14),
        ('let x = 5;\n    println!("{x}");\n', 16),
        ("12345678", 8),
        ("👍🏽", 4),
    ],
)
def test_the_estimate_lies_between_what_models_count_and_the_bytes(text: str, tokens_of_real_models: int) -> None:
    assert tokens_of_real_models <= estimate_tokens(text) <= len(text.encode())


@given(st.text())
def test_no_text_has_more_tokens_than_bytes(text: str) -> None:
    assert estimate_tokens(text) <= len(text.encode("utf-8", "surrogatepass"))


@given(st.text(alphabet="ab 1。字\n-"), st.text(alphabet="ab1。字-"))
def test_two_texts_joined_have_no_more_tokens_than_apart(first: str, second: str) -> None:
    assert estimate_tokens(first + second) <= estimate_tokens(first) + estimate_tokens(second)
