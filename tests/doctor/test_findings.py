"""What was seen makes the row it should, said in both languages."""

from __future__ import annotations

import re

import pytest
from tests.doctor.cases import CASES, Case

from responsa.doctor.advice_texts import ADVICE
from responsa.doctor.finding import Finding, Status
from responsa.doctor.finding_texts import DETAILS, ROWS
from responsa.doctor.prefixes import Prefixes, wanted_prefixes
from responsa.schema.errors import ServerUnreachable

cases = pytest.mark.parametrize("case", CASES, ids=[f"{number}-{case.code}" for number, case in enumerate(CASES)])


@cases
def test_what_was_seen_makes_the_row(case: Case) -> None:
    finding = case.make()
    assert (finding.status.value, finding.code) == (case.status, case.code)


@cases
def test_the_row_is_said_in_both_languages(case: Case) -> None:
    finding = case.make()
    for language in ("en", "zh"):
        for text in (finding.title(language), finding.detail(language), finding.advice(language)):
            assert not re.search(r"\{\w+\}", text)
        assert finding.detail(language)
        if finding.status in (Status.WARNING, Status.FAULT):
            assert finding.advice(language)
    assert finding.title("en") != finding.title("zh")


def test_every_text_is_shown_by_a_case() -> None:
    findings = [case.make() for case in CASES]
    assert {finding.code for finding in findings} == set(DETAILS)
    assert {finding.name for finding in findings} == set(ROWS)
    assert set(ADVICE) < set(DETAILS)


@pytest.mark.parametrize("texts", [*DETAILS.values(), *ADVICE.values()])
def test_both_languages_show_the_same_values(texts: dict[str, str]) -> None:
    assert set(texts) == {"en", "zh"}
    assert set(re.findall(r"\{(\w+)\}", texts["en"])) == set(re.findall(r"\{(\w+)\}", texts["zh"]))


def test_an_error_inside_a_row_speaks_the_rows_language() -> None:
    finding = Finding("streaming", Status.FAULT, "no_answer", {"error": ServerUnreachable("u", "refused")})
    assert "没有模型服务器应答" in finding.detail("zh")
    assert "No model server answers" in finding.detail()


def test_figures_are_short() -> None:
    values = {"first": 0.123456, "read": None, "written": 31.2345}
    shown = Finding("speed", Status.OK, "speed", values).detail()
    assert shown == "first token after 0.12 s; ? prompt tokens/s, 31.2 answer tokens/s"


E5 = Prefixes("query: ", "passage: ")


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("multilingual-e5-small-q4", E5),
        ("intfloat/e5-base-v2", E5),
        ("nomic-embed-text-v1.5.Q8_0", Prefixes("search_query: ", "search_document: ")),
        ("snowflake-arctic-embed-l-v2.0", Prefixes("query: ")),
        ("bge-m3", None),
        ("all-MiniLM-L6-v2", None),
        ("", None),
    ],
)
def test_prefixes_are_known_by_the_models_name(model: str, wanted: Prefixes | None) -> None:
    assert wanted_prefixes(model) == wanted


@pytest.mark.parametrize(
    ("model", "beginning"),
    [
        ("multilingual-e5-large-instruct", "Instruct: "),
        ("Qwen3-Embedding-0.6B-Q8_0", "Instruct: "),
        ("BAAI/bge-small-zh-v1.5", "为这个句子"),
        ("BAAI/bge-small-en-v1.5", "Represent"),
        ("mxbai-embed-large-v1", "Represent"),
        ("snowflake-arctic-embed-m", "Represent"),
        ("embeddinggemma-300m", "task: search result"),
    ],
)
def test_instructions_are_known_by_the_models_name(model: str, beginning: str) -> None:
    wanted = wanted_prefixes(model)
    assert wanted is not None
    assert wanted.query.startswith(beginning)
