"""What is learned of a server's speed from its answers: it makes the seconds of a plan."""

from __future__ import annotations

import pytest

from responsa.llms.speeds import Speeds
from responsa.schema.completions import Finish, LLMMetadata, Timings, Usage
from responsa.schema.plans import Plan, PlannedCall


@pytest.mark.parametrize(
    ("usage", "timings", "speeds"),
    [
        (Usage(120, 50, 20), Timings(server_prompt=0.5, server_predicted=2.0), (200.0, 25.0)),
        (Usage(120, 50, 20), Timings(0.5, 10.5, 0.25, 2.0), (400.0, 25.0)),
        (Usage(100, 51), Timings(first_token=0.5, total=10.5), (200.0, 5.0)),
        (Usage(100, 1), Timings(first_token=0.5, total=10.5), (200.0, None)),
        (Usage(100, 50, 90), Timings(server_prompt=0.5, server_predicted=2.0), (None, 25.0)),
        (Usage(), Timings(first_token=0.5, total=10.5), (None, None)),
        (Usage(100, 50), Timings(), (None, None)),
        (Usage(100, 50), Timings(0.0, 0.0, 0.0, 0.0), (None, None)),
    ],
    ids=[
        "the server's own times, without what its cache held",
        "the server's own times before those of the stream",
        "the stream's times where the server tells none",
        "one token is no speed",
        "a few tokens that were read are none either",
        "no usage",
        "no times",
        "no time at all",
    ],
)
def test_speeds_of_an_answer(usage: Usage, timings: Timings, speeds: tuple[float | None, float | None]) -> None:
    seen = Speeds()
    seen.learn(Finish("stop", usage, timings))
    assert (seen.prompt, seen.output) == speeds


def test_an_answer_that_tells_nothing_leaves_what_is_known() -> None:
    seen = Speeds()
    seen.learn(Finish("stop", Usage(100, 50), Timings(server_prompt=0.5, server_predicted=2.0)))
    seen.learn(Finish("stop", Usage(3, 1), Timings(server_prompt=0.5, server_predicted=2.0)))
    assert (seen.prompt, seen.output) == (200.0, 25.0)


def test_a_plan_has_seconds_once_a_speed_was_seen() -> None:
    calls = (PlannedCall("answer", 400, 100, visible=True),)
    assert Plan(calls, metadata=LLMMetadata(4096)).seconds is None
    plan = Plan(calls, metadata=LLMMetadata(4096, prompt_speed=200.0, output_speed=50.0))
    assert (plan.seconds, plan.seconds_to_first_word) == (4.0, 2.02)
