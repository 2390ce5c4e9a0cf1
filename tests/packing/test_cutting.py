"""Cutting: nothing lost, no piece over its room, ends where a reader would end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packing.texts import CHINESE, ENGLISH, TEXTS

from responsa.packing.cutting import cut, shorten
from responsa.programs import run
from responsa.testing import ScriptedLLM

LLM = ScriptedLLM()


def tokens(text: str) -> int:
    return LLM.count_tokens([text])[0]


def pieces(text: str, room: int) -> list[str]:
    return [text[start:end] for (start, end), _ in run(cut(text, room), LLM)]


@given(TEXTS, st.integers(1, 120))
def test_pieces_follow_one_another_cover_the_text_and_fit_their_room(text: str, room: int) -> None:
    cuts = run(cut(text, room), LLM)
    assert "".join(text[start:end] for (start, end), _ in cuts) == text
    assert [start for (start, _), _ in cuts] == [0, *(end for (_, end), _ in cuts)][: len(cuts)]
    for (start, end), counted in cuts:
        assert tokens(text[start:end]) <= counted <= room


@given(TEXTS, st.integers(2, 60))
def test_pieces_are_as_few_as_whole_sentences_allow(text: str, room: int) -> None:
    cuts = run(cut(text, room), LLM)
    for (_, first), (_, second) in pairwise(cuts):
        assert first + second + 1 > room


@pytest.mark.parametrize(
    ("text", "room", "expected"),
    [
        ("One two three. Four five six. Seven.", 8, ["One two three. ", "Four five six. ", "Seven."]),
        ("One two three. Four five six. Seven.", 16, ["One two three. Four five six. ", "Seven."]),
        ("第一句话。第二句话！第三句话？", 11, ["第一句话。第二句话！", "第三句话？"]),
        ("他说：“你好。”然后走了。", 8, ["他说：“你好。”", "然后走了。"]),
        ("one, two; three four", 4, ["one, ", "two; ", "three four"]),
        ("甲乙丙丁，戊己庚辛", 6, ["甲乙丙丁，", "戊己庚辛"]),
        ("", 5, []),
        ("short", 5, ["short"]),
    ],
)
def test_a_cut_stands_at_a_sentences_end_else_after_a_clause_else_at_a_blank(
    text: str, room: int, expected: list[str]
) -> None:
    assert pieces(text, room) == expected


def test_a_line_without_any_boundary_is_cut_all_the_same() -> None:
    assert all(len(piece) <= 50 for piece in pieces("长" * 1000, 50))
    assert len(pieces("长" * 1000, 50)) <= 2 * 1000 / 50


def test_a_very_long_line_is_counted_a_few_times_only() -> None:
    class Counting(ScriptedLLM):
        rounds = 0

        def count_tokens(self, texts):
            self.rounds += 1
            return super().count_tokens(texts)

    llm = Counting()
    assert len(run(cut("文" * 200_000, 500), llm)) >= 400
    assert llm.rounds <= 5


def test_an_accent_stays_with_its_letter() -> None:
    assert all(not piece.startswith("\u0301") for piece in pieces("e\u0301" * 99, 7))


class OneCharacterTooLarge(ScriptedLLM):
    """A tokenizer that needs three tokens for one emoji."""

    def count_tokens(self, texts):
        return [sum(3 if char > "\uffff" else 1 for char in text) for text in texts]


def test_only_a_single_character_may_be_larger_than_its_room() -> None:
    cuts = run(cut("ab😀😀cd", 2), OneCharacterTooLarge())
    assert [("ab😀😀cd"[start:end], counted) for (start, end), counted in cuts if counted > 2] == [("😀", 3), ("😀", 3)]
    assert sum(end - start for (start, end), _ in cuts) == 6


@given(TEXTS, st.integers(-1, 80))
def test_a_shortened_text_is_a_beginning_that_fits(text: str, room: int) -> None:
    shortened = run(shorten(text, room), LLM)
    assert text.startswith(shortened)
    assert tokens(shortened) <= max(room, 0)
    assert shortened == shortened.rstrip()


@pytest.mark.parametrize("text", [ENGLISH, CHINESE])
def test_a_text_is_shortened_at_a_sentences_end(text: str) -> None:
    assert run(shorten(text * 3, 30), LLM)[-1] in "。！？.!?"


def test_a_text_that_fits_is_left_as_it_is() -> None:
    assert run(shorten("It fits. Well.", 50), LLM) == "It fits. Well."
