"""The estimate of tokens learns from what servers counted, and stays a safe one."""

from __future__ import annotations

from responsa.tokens.estimate_correction import EstimateCorrection

ENGLISH, CHINESE = "words " * 100, "汉字" * 100


def learned(text: str, *ratios: float) -> EstimateCorrection:
    correction = EstimateCorrection()
    for ratio in ratios:
        correction.learn(text, 1000, int(1000 * ratio))
    return correction


def test_nothing_learned_changes_nothing() -> None:
    assert EstimateCorrection().apply(ENGLISH, 70) == 70


def test_too_low_an_estimate_is_raised_by_one_reply() -> None:
    assert learned(ENGLISH, 1.5).apply(ENGLISH, 1000) >= 1500


def test_too_high_an_estimate_comes_down_when_several_replies_agree() -> None:
    assert learned(ENGLISH, 0.5, 0.5).apply(ENGLISH, 1000) == 1000
    assert 500 <= learned(ENGLISH, 0.5, 0.5, 0.5).apply(ENGLISH, 1000) < 600


def test_the_highest_of_the_replies_decides() -> None:
    assert learned(ENGLISH, 0.5, 0.9, 0.5, 0.5).apply(ENGLISH, 1000) >= 900


def test_what_was_learned_of_one_script_is_not_taken_for_another() -> None:
    correction = learned(ENGLISH, 0.5, 0.5, 0.5)
    assert correction.apply(CHINESE, 1000) == 1000
    assert learned(CHINESE, 0.5, 0.5, 0.5).apply(ENGLISH, 1000) == 1000


def test_old_replies_are_forgotten() -> None:
    assert learned(ENGLISH, 2.0, *[0.8] * 16).apply(ENGLISH, 1000) < 1000


def test_short_prompts_and_senseless_counts_teach_nothing() -> None:
    correction = EstimateCorrection()
    for _ in range(5):
        correction.learn(ENGLISH, 10, 500)
        correction.learn(ENGLISH, 1000, 0)
    assert correction.apply(ENGLISH, 1000) == 1000
