import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.tokens.words import LONGEST_WORD, content_words, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n\t ", []),
        ("。，！？…—“”", []),
        ("Running libraries", ["run", "librari"]),
        ("The member's books", ["the", "member", "book"]),
        ("Rust’s borrow checker", ["rust", "borrow", "checker"]),
        ("don't don’t", ["don't", "don't"]),
        ("max_tokens", ["max_tokens", "max", "token"]),
        ("--max-tokens=5", ["max-tokens", "max", "token", "5"]),
        ("v1.2", ["v1.2", "v1"]),
        ("ISO-8601", ["iso-8601", "iso", "8601"]),
        ("std::vec", ["std::vec", "std", "vec"]),
        ("src/main.rs", ["src", "main.rs", "main", "rs"]),
        ("e-mail", ["e-mail", "mail"]),
        ("3.14 and 1,000 at 10:30", ["3.14", "and", "1000", "at", "10:30"]),
        ("red,green", ["red", "green"]),
        ("C++, C# or F#", ["c++", "c#", "or", "f#"]),
        ("café Naïve", ["cafe", "naiv"]),
        ("图书馆", ["图书", "书馆", "图书馆"]),
        ("周六上午11点开门", ["周六", "上午", "11", "点", "开门"]),
        ("X200型水泵", ["x200", "型", "水泵"]),
        ("使用max_tokens参数", ["使用", "max_tokens", "max", "token", "参数"]),
        ("Привет, мир", ["привет", "мир"]),
    ],
)
def test_cuts_text_into_search_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＩＳＯ－８６０１ １２３", "ISO-8601 123"),
        ("LIBRARIES", "library"),
        ("connected", "connections"),
        ("résumé", "resume"),
        ("１，０００", "1000"),
        ("Straße", "strasse"),
    ],
)
def test_texts_that_differ_in_form_only_give_the_same_words(one: str, other: str) -> None:
    assert words(one) == words(other)


def test_a_question_for_a_part_of_an_identifier_finds_it() -> None:
    assert set(words("max tokens")) <= set(words("max_tokens"))
    assert set(words("图书")) <= set(words("图书馆"))


def test_content_words_leave_out_function_words_of_both_languages() -> None:
    assert content_words("What is the limit of books?") == ["limit", "book"]
    assert content_words("它们在图书馆的什么地方？") == ["图书", "书馆", "图书馆", "地方"]


def test_content_words_keep_a_text_of_function_words_only() -> None:
    assert content_words("to be or not to be") == words("to be or not to be")


@given(st.text(max_size=300))
def test_words_are_never_empty_and_hold_no_white_space(text: str) -> None:
    for word in words(text):
        assert word
        assert word.split() == [word]
        assert len(word) <= LONGEST_WORD
        word.encode("utf-8")


@given(st.lists(st.sampled_from(["library", "图书馆", "v1.2", "max_tokens", "3.14", "水泵", "café"]), max_size=20))
def test_words_of_a_text_are_the_words_of_its_pieces(pieces: list[str]) -> None:
    assert words("。 ".join(pieces)) == [word for piece in pieces for word in words(piece)]


def test_an_endless_word_is_cut() -> None:
    assert words("x" * 1_000_000) == ["x" * LONGEST_WORD]


def test_the_same_word_gives_the_same_terms_after_the_cache_was_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("responsa.tokens.words._CACHE_LIMIT", 3)
    texts = ["running", "libraries", "max_tokens", "connected", "pumps"]
    assert [words(text) for text in texts] == [words(text) for text in texts]
