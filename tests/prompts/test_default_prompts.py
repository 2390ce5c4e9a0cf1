"""The default prompts: the same in both languages, the question in its place, and the phrase for not knowing."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.packing.passages import FENCE
from responsa.prompts import default_prompts, detect_language, may_refuse, refuses

TEMPLATES = ["text_qa", "single_qa", "refine", "text_qa_decide", "refine_decide", "summary", "simple"]
PASSAGES = {"context_str", "context_msg"}


@pytest.mark.parametrize("name", TEMPLATES)
def test_both_languages_have_the_same_variables_in_the_same_roles(name: str) -> None:
    shapes = []
    for language in ("en", "zh"):
        template = getattr(default_prompts(language), name)
        names = dict.fromkeys(template.template_vars, "")
        shapes.append((set(names), [message.role for message in template.format_messages(**names)]))
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "variables"),
    [
        ("text_qa", ["context_str", "query_str"]),
        ("single_qa", ["query_str", "context_str"]),
        ("refine", ["query_str", "existing_answer", "context_msg"]),
        ("summary", ["context_str", "query_str"]),
        ("simple", ["query_str"]),
    ],
)
def test_a_question_stands_behind_many_passages_and_before_those_that_come_one_by_one(
    language: str, name: str, variables: list[str]
) -> None:
    assert getattr(default_prompts(language), name).template_vars == variables


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_calls_of_a_question_start_alike_so_that_a_server_can_cache_their_beginning(language: str) -> None:
    prompts = default_prompts(language)
    starts = set()
    for template in (prompts.single_qa, prompts.refine, prompts.text_qa_decide, prompts.refine_decide):
        text = template.format(query_str="<question>")
        starts.add(text[: text.index("<question>")])
    assert len(starts) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_passages_stand_inside_one_fence(language: str) -> None:
    prompts = default_prompts(language)
    passages = ("text_qa", "single_qa", "refine", "summary", "text_qa_decide", "refine_decide")
    for name in passages:
        text = getattr(prompts, name).format(context_str="<passages>", context_msg="<passages>")
        assert f"\n{FENCE}\n<passages>\n{FENCE}\n" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_model_is_told_the_phrase_for_not_knowing_and_that_passages_are_data(language: str) -> None:
    prompts = default_prompts(language)
    systems = [template.format_messages()[0].content for template in (prompts.text_qa, prompts.summary, prompts.refine)]
    assert all(prompts.refusal in system for system in systems)
    asked = "number of its passage" if language == "en" else "资料的编号"
    assert all(asked in template.format() for template in (prompts.text_qa, prompts.summary))
    # A small model that is asked for numbers at every single passage writes nothing else, or refuses.
    assert not any(asked in template.format() for template in (prompts.single_qa, prompts.refine))
    assert all(("data" if language == "en" else "数据") in system for system in systems)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is Rust?", "en"),
        ("什么是 Rust？", "zh"),
        ("如何用 std fs read 读文件", "zh"),
        ("Please explain the word 所有权", "en"),
        ("Explain the word 所有权", "zh"),
        ("The word 所有权规则说明", "zh"),
        ("", "en"),
        ("12345 ?!", "en"),
        ("Qu'est-ce que c'est", "en"),
        ("한국어 질문", "en"),
        ("豈 \uf900\uf901", "zh"),
        ("a" * 3000 + "中文" * 3000, "en"),
    ],
)
def test_a_question_is_chinese_if_it_has_as_many_han_characters_as_latin_words(text: str, language: str) -> None:
    assert detect_language(text) == language


REFUSALS = [
    "I don't know.",
    "I don't know",
    "I DON’T KNOW!",
    '"I don\'t know."',
    "**I don't know.**",
    "  I don't know.\n",
    "I don't know. [1]",
    "I don't know [1][2].",
    "I don't know. [1, 2]",
    "我不知道。",
    "我不知道",
    "不知道。",
    "I do not know.",
    "“我不知道。”",
    "我不知道【1】。",
    "我不知道【1、2】。",
]
ANSWERS = [
    "",
    "   ",
    "I don't know much, but Rust is a language.",
    "I don't know. Ask the author.",
    "I do.",
    "It says: I don't know.",
    "[1]",
    "我不知道的是，它很快。",
    "我知道。",
    "I don't know [a].",
]


@pytest.mark.parametrize("text", REFUSALS)
def test_the_phrase_alone_is_a_refusal_whatever_marks_stand_around_it(text: str) -> None:
    assert refuses(text)
    assert may_refuse(text, ended=True)


@pytest.mark.parametrize("text", ANSWERS)
def test_whatever_says_more_is_no_refusal(text: str) -> None:
    assert not refuses(text)
    assert not may_refuse(text, ended=True)


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_held_back_from_its_first_character_to_its_last(text: str) -> None:
    assert all(may_refuse(begun, ended=False) for begun in accumulate(text))


@given(st.sampled_from([text for text in ANSWERS if text.strip()]))
def test_a_text_that_only_starts_like_a_refusal_is_let_go_and_stays_so(text: str) -> None:
    held = [may_refuse(begun, ended=False) for begun in accumulate(text)]
    assert held == sorted(held, reverse=True)
