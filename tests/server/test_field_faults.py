"""What is wrong with a request is told by field, in the person's language."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from responsa.server.field_faults import MOST_FAULTS, field_faults
from responsa.server.models.feedback import FeedbackRequest
from responsa.server.models.requests import AnswerRequest, SearchRequest


def faults_of(model: Any, value: Any, language: Any = "en") -> tuple[str, ...]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(value)
    return field_faults(caught.value.errors(), language)


@pytest.mark.parametrize(
    ("value", "en", "zh"),
    [
        ({}, "question: it is missing", "question: 缺少这一项"),
        ({"question": ""}, "question: it must have at least 1 characters", "question: 至少要有 1 个字符"),
        ({"question": 5}, "question: it must be a text", "question: 必须是文本"),
        ({"question": "x", "top_k": 0}, "top_k: it must be 1 or more", "top_k: 必须大于或等于 1"),
        ({"question": "x", "top_k": 1.5}, "top_k: it must be a whole number", "top_k: 必须是整数"),
        ({"question": "x", "stream": "perhaps"}, "stream: it must be true or false", "stream: 必须是 true 或 false"),
        ({"question": "x", "colour": 1}, "colour: there is no such field", "colour: 没有这个字段"),
        ({"question": "x", "nodes": 1}, "nodes: it must be a list", "nodes: 必须是列表"),
        ([], "the body: it must be an object", "请求正文: 必须是对象"),
    ],
)
def test_each_fault_in_both_languages(value: Any, en: str, zh: str) -> None:
    assert faults_of(AnswerRequest, value)[0] == en
    assert faults_of(AnswerRequest, value, "zh")[0] == zh


def test_a_choice_tells_its_values_and_a_rule_of_several_fields_its_sentence() -> None:
    (choice,) = faults_of(SearchRequest, {"question": "x", "by": "colour"})
    assert choice == "by: it must be 'hybrid', 'meaning' or 'words'"
    (rule,) = faults_of(FeedbackRequest, {"score": 1})
    assert "either session_id and message_id, or answer_id" in rule


def test_json_that_breaks_off_is_told_of_the_body_and_not_of_a_count() -> None:
    context = {"error": "Expecting ','"}
    broken = {"type": "json_invalid", "loc": ("body", 13), "msg": "JSON decode error", "ctx": context}
    assert field_faults([broken], "en") == ("the body: it is no JSON: Expecting ','",)


def test_what_has_no_sentence_keeps_its_own_and_neither_is_long_nor_many() -> None:
    fault = {"type": "strange", "loc": ("body", "a", 0), "msg": "m" * 1000}
    told = field_faults([fault] * 50, "zh")
    assert len(told) == MOST_FAULTS
    assert told[0].startswith("a.0: mmm")
    assert len(told[0]) <= 310
