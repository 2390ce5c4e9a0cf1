"""Warnings by code, in two languages."""

from __future__ import annotations

import re

import pytest

from responsa.schema.notices import NOTICE_TEXTS, Notice

# Each code with the details its raiser gives: stable names for programs.
DETAILS: dict[str, dict[str, object]] = {
    "answer_empty": {},
    "answer_cut": {"stage": "answer", "max_tokens": 256},
    "passages_cut": {"count": 3, "total": 8},
    "answer_shortened": {"tokens": 300, "room": 120, "stage": "refine"},
    "repacked": {"stage": "answer", "window": 3000},
    "output_reserve_shrunk": {"wanted": 512, "given": 48, "window": 400},
    "unknown_citation": {"numbers": "[9]"},
    "memory_message_cut": {"role": "user", "tokens": 900, "room": 500},
    "memory_block_cut": {"block": "facts", "room": 100},
    "memory_block_failed": {"block": "facts", "reason": "gone."},
    "rewrite_rejected": {"reason": "it is empty"},
    "step_failed": {"stage": "refine", "reason": "gone."},
}


def test_the_codes_are_these() -> None:
    assert set(NOTICE_TEXTS) == set(DETAILS)


@pytest.mark.parametrize("code", DETAILS)
def test_texts_are_in_both_languages_and_use_exactly_the_details(code: str) -> None:
    texts = NOTICE_TEXTS[code]
    assert set(texts) == {"en", "zh"}
    for language, text in texts.items():
        assert set(re.findall(r"\{(\w+)\}", text)) == set(DETAILS[code])
        shown = Notice(code, DETAILS[code]).render(language)
        assert "{" not in shown
        assert all(str(value) in shown for value in DETAILS[code].values())


def test_a_notice_prints_in_english() -> None:
    assert str(Notice("unknown_citation", {"numbers": "[7], [9]"})) == (
        "The answer cites [7], [9]: the passages of its call have no such number."
    )


def test_a_detail_is_never_scanned_for_placeholders() -> None:
    shown = Notice("step_failed", {"stage": "{reason}", "reason": "{stage}"}).render()
    assert shown == "The step {reason} failed: {stage} The rest was kept."
