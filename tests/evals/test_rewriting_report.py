"""The evaluation of rewrites: its figures, its cases, and a run of it."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from responsa.testing import ScriptedLLM

EVALS = Path(__file__).parents[2] / "evals"


@pytest.fixture(scope="module")
def rewriting() -> Iterator[dict[str, Any]]:
    """The names of the script."""
    sys.path.insert(0, str(EVALS))
    try:
        yield runpy.run_path(str(EVALS / "rewriting.py"))
    finally:
        sys.path.remove(str(EVALS))
        sys.modules.pop("rewrite_metrics", None)


@pytest.fixture(scope="module")
def metrics(rewriting: dict[str, Any]) -> Any:
    return sys.modules["rewrite_metrics"]


@pytest.mark.parametrize(
    ("text", "reference", "recall"),
    [
        ("When did Zappa disband?", "when did zappa disband", 1.0),
        ("When did they disband?", "When did Zappa disband?", 0.75),
        ("the the the", "the cat the dog", 0.5),
        ("", "When?", 0.0),
        ("它几点开门？", "图书馆几点开门？", 4 / 7),
        ("X200 水泵", "X200 水泵的功率", 3 / 6),
        ("anything", "", 0.0),
    ],
)
def test_rouge_1_recall_counts_words_and_chinese_characters(
    metrics: Any, text: str, reference: str, recall: float
) -> None:
    assert metrics.rouge1_recall(text, reference) == pytest.approx(recall)


def test_the_nearest_reference_counts(metrics: Any) -> None:
    assert metrics.best_recall("a b", ["a b c d", "a b"]) == 1.0


def test_the_cases_are_follow_ups_of_both_languages_each_once(rewriting: dict[str, Any]) -> None:
    for file, least in (("canard.jsonl", 60), ("pronouns_zh.jsonl", 40)):
        found = rewriting["cases"](file)
        assert len({case.id for case in found}) == len(found) >= least
        for case in found:
            assert [message.role.value for message in case.history] == ["user", "assistant"] * (len(case.history) // 2)
            assert case.history
            assert case.question not in case.references
    assert rewriting["cases"]("canard.jsonl", 3) == rewriting["cases"]("canard.jsonl")[:3]


def test_a_report_of_a_good_a_bad_and_a_lost_rewrite(rewriting: dict[str, Any], metrics: Any) -> None:
    orders = [case for case in rewriting["cases"]("pronouns_zh.jsonl") if "5498" in case.question]
    (case,) = orders
    results = [
        rewriting["rewritten"](case, ScriptedLLM(answer))
        for answer in (case.references[0], "订单 5521 贵 380 元。", "订单 5521 比另一个贵多少？")
    ]
    assert [bool(result.fault) for result in results] == [False, True, True]
    assert [result.used for result in results] == [case.references[0], case.question, case.question]
    lines = [line.split() for line in rewriting["report"]("Orders", results).splitlines()]
    figures = {" ".join(line[:-1]).removesuffix(" %"): line[-1] for line in lines}
    assert figures["cases"] == "3"
    assert "fallback: it lost a number or a name" in figures
    assert "fallback: it is an answer and not a question" in figures
    shares = {" ".join(line[:-2]): line[-2] for line in lines if line[-1] == "%"}
    assert shares["fallbacks to the user's own words"] == "67"
    assert shares["the model kept all that the user typed"] == "33"
    assert shares["searched with all that the user typed"] == "100"
    assert shares["searched with all that the human names"] == "33"
