"""Support: how much of a sentence stands in a passage, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.grounding.answers import ANSWERS, OWNERSHIP, SOURCES
from tests.packing.texts import TEXTS

from responsa.grounding import THRESHOLD, SupportIndex
from responsa.packing.passages import Passage, passages_of
from responsa.tokens.sentences import split_sentences
from responsa.tokens.words import content_words

INDEX = SupportIndex(passages_of(SOURCES))


@pytest.mark.parametrize(
    ("sentence", "number", "quoted"),
    [
        ("The value is dropped when its owner goes out of scope.", 1, "When the owner goes out of scope"),
        ("Pushing with Vec::push costs amortized O(1).", 2, "Vec::push has amortized O(1) cost."),
        ("Mozilla released version 1.0 in 2015.", 2, "In 2015 version 1.0 was released by Mozilla"),
        ("Rust 不需要垃圾回收器就能保证内存安全。", 3, "它让 Rust 无需垃圾回收器即可保证内存安全。"),
        ("1.0 版本在 2015 年发布。", 3, "1.0 版本发布于 2015 年。"),
    ],
)
def test_a_sentence_in_other_words_is_supported_by_the_sentence_it_rests_on(
    sentence: str, number: int, quoted: str
) -> None:
    support = INDEX.best(sentence)
    assert support is not None
    assert support.score >= THRESHOLD
    assert support.passage.number == number
    assert quoted in support.passage.text[support.start : support.end]


@pytest.mark.parametrize(
    "sentence", ["Penguins live in Antarctica.", "企鹅住在南极洲。", "Python 2 was released in 2000."]
)
def test_an_invented_sentence_has_little_support(sentence: str) -> None:
    support = INDEX.best(sentence)
    assert support is None or support.score < THRESHOLD


@pytest.mark.parametrize("sentence", ["", "  ", "?!", "。"])
def test_a_sentence_without_words_has_none(sentence: str) -> None:
    assert INDEX.best(sentence) is None


def test_support_may_be_asked_of_some_passages_only() -> None:
    sentence = "Mozilla released version 1.0 in 2015."
    among = INDEX.best(sentence, frozenset([3]))
    assert among is not None
    assert among.passage.number == 3
    assert INDEX.best(sentence, frozenset([9])) is None
    assert SupportIndex([]).best(sentence) is None


def test_a_statement_that_rests_on_two_sentences_quotes_both() -> None:
    support = INDEX.best("There is one owner at a time, and when it goes out of scope the value will be dropped.")
    assert support is not None
    assert OWNERSHIP[support.start : support.end].startswith("There can only be one owner")
    assert support.end == len(OWNERSHIP)


def test_what_the_metadata_says_supports_too() -> None:
    passage = Passage(1, "n", "It was first released long ago.", head="title: Kubernetes\n\n")
    support = SupportIndex([passage]).best("Kubernetes was released long ago.")
    assert support is not None
    assert support.score == 1.0


@given(TEXTS, ANSWERS | st.text(max_size=30))
def test_a_score_lies_between_0_and_1_and_its_place_in_the_passage(text: str, sentence: str) -> None:
    support = SupportIndex([Passage(1, "n", text)]).best(sentence)
    if support is not None:
        assert 0 <= support.score <= 1
        assert 0 <= support.start < support.end <= len(text)


@pytest.mark.parametrize(
    "sentence", [source.text[start:end] for source in SOURCES for start, end in split_sentences(source.text)]
)
def test_a_sentence_copied_from_a_passage_is_supported_in_full(sentence: str) -> None:
    support = INDEX.best(sentence)
    assert support is not None
    assert support.score == 1.0


def test_passages_added_later_are_read_once_and_count_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    passages = passages_of(SOURCES)
    sentence = "There can only be one owner at a time, as Mozilla says."
    expected = SupportIndex(passages).best(sentence)
    index = SupportIndex(passages[:1])
    assert index.best(sentence) is not None
    cut: list[str] = []

    def noted(text: str) -> list[str]:
        cut.append(text)
        return content_words(text)

    monkeypatch.setattr("responsa.grounding.support.content_words", noted)
    for passage in passages[1:]:
        assert list(index.adding(passage)) == [None]
    assert "".join(cut) == "".join(passage.text for passage in passages[1:])
    assert index.best(sentence) == expected
