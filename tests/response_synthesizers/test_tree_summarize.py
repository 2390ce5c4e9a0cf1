"""Tree summarize: every level is smaller than the last, whatever the model writes, and the calls are bounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    aevents,
    codes,
    events,
    long_passages,
    passages,
    stages,
    synthesized,
)

from responsa.response_synthesizers import TreeSummarize
from responsa.schema.errors import CallBudgetExceeded, DoesNotConverge, RateLimited, WindowTooSmall
from responsa.schema.events import TextDelta
from responsa.schema.messages import ChatMessage
from responsa.schema.response import Outcome, Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
ANSWERS = ["Short.", "word " * 900, "答案，" * 500, "a. " * 400, "x" * 3000]


@given(
    st.integers(2, 40),
    st.integers(330, 1500),
    st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=4),
    st.sampled_from([None, 5, 60, 2000]),
)
def test_it_always_ends_with_one_answer_and_within_its_plan(
    count: int, window: int, answers: list[str], max_tokens: int | None
) -> None:
    llm = ScriptedLLM(answers, context_window=window, num_output=150)
    mode = TreeSummarize(llm, use_async=False)
    options = {"max_tokens": max_tokens} if max_tokens else None
    planned = mode.plan(QUESTION, long_passages(count, times=3), llm_kwargs=options)
    response = synthesized(mode, QUESTION, long_passages(count, times=3), llm_kwargs=options)
    assert [record.call.stage for record in response.trace][-1] == "answer"
    assert stages(response).count("answer") == 1
    lowest = sum(bool(record.call.spans) for record in response.trace)
    assert len(response.trace) <= len(planned.calls) <= 2 * lowest + lowest.bit_length()
    assert all(row.shown == "whole" for row in response.coverage)


class MoreThanItsParts(ScriptedLLM):
    """Counts a prompt higher than the parts it was packed from."""

    def __init__(self, script: str, factor: float) -> None:
        super().__init__(script, context_window=600)
        self.factor = factor

    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
        return [int(self.factor * tokens) for tokens in super().count_prompts(prompts)]


@pytest.mark.parametrize("factor", [1.2, 1.5, 1.8])
@pytest.mark.parametrize("count", [3, 9])
def test_it_ends_also_where_a_prompt_is_more_than_its_parts(factor: float, count: int) -> None:
    llm = MoreThanItsParts("word " * 300, factor)
    response = synthesized(TreeSummarize(llm), QUESTION, long_passages(count), llm_kwargs={"max_tokens": 200})
    assert stages(response)[-1] == "answer"
    assert all(row.shown == "whole" for row in response.coverage)


def test_summaries_that_no_cutting_makes_fewer_are_an_error() -> None:
    class Growing(MoreThanItsParts):
        def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]:
            said = [sum("word" in message.content for message in prompt) for prompt in prompts]
            return [1000 if more else tokens for more, tokens in zip(said, super().count_prompts(prompts), strict=True)]

    with pytest.raises((DoesNotConverge, WindowTooSmall)):
        synthesized(TreeSummarize(Growing("word " * 300, 1.0)), QUESTION, long_passages(9, times=6))


def test_each_level_has_at_most_half_the_packs_of_the_one_below() -> None:
    llm = ScriptedLLM("word " * 900, context_window=500, num_output=200)
    response = synthesized(TreeSummarize(llm), QUESTION, long_passages(32, times=3))
    sizes: list[int] = []
    left = len(response.trace)
    lowest = sum(bool(record.call.spans) for record in response.trace)
    size = lowest
    while size > 1:
        sizes.append(size)
        left -= size
        size = -(-size // 2)
    assert left <= 1 + len(sizes)
    assert len(sizes) > 3


@EVERY_WAY
def test_only_the_last_call_is_the_answer(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(["One.", "Two.", "Three.", "The whole."], context_window=900, num_output=100)
    response = respond(TreeSummarize(llm, use_async=False), QUESTION, long_passages(3, times=8))
    assert stages(response) == ["summarize"] * 3 + ["answer"]
    assert response.text == "The whole."
    last = llm.prompts[-1][-1].content
    assert last.index("One.") < last.index("Two.") < last.index("Three.")
    assert "1:" not in last


@pytest.mark.parametrize("told_by", [events, aevents], ids=["blocking", "async"])
def test_only_the_answers_text_is_streamed(told_by: Callable[..., list[Any]]) -> None:
    llm = ScriptedLLM(["One.", "Two.", "The whole."], context_window=900, num_output=100)
    told = told_by(TreeSummarize(llm, use_async=False), QUESTION, long_passages(2, times=8))
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "The whole."


@EVERY_WAY
def test_one_failure_of_ten_is_named_and_the_others_are_summarized(respond: Callable[..., Response]) -> None:
    def script(messages: Sequence[ChatMessage]) -> Any:
        text = messages[-1].content
        if "Passage 4." in text:
            return RateLimited("http://server")
        return f"About {text.partition('Passage ')[2].partition('.')[0]}." if "Passage " in text else "The whole."

    llm = ScriptedLLM(script, context_window=900, num_output=100, slots=3)
    response = respond(TreeSummarize(llm), QUESTION, long_passages(10, times=8))
    assert response.text == "The whole."
    assert response.outcome is Outcome.STEP_FAILED
    shown = llm.prompts[-1][-1].content
    assert [n for n in range(1, 11) if f"About {n}." in shown] == [1, 2, 3, 5, 6, 7, 8, 9, 10]
    assert codes(response) == ["step_failed", "passages_cut"]
    assert [row.number for row in response.coverage if row.shown != "whole"] == [4]


@EVERY_WAY
def test_where_all_of_a_level_fail_the_first_error_is_raised(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(RateLimited("http://server"), context_window=900, num_output=100)
    with pytest.raises(RateLimited):
        respond(TreeSummarize(llm), QUESTION, long_passages(3, times=8))


def test_summaries_that_say_nothing_are_left_out() -> None:
    llm = ScriptedLLM(["I don't know.", "", "Ann owns it.", "Ann."], context_window=900, num_output=100)
    response = synthesized(TreeSummarize(llm, use_async=False), QUESTION, long_passages(3, times=8))
    assert response.text == "Ann."
    assert "know" not in llm.prompts[-1][-1].content.partition("Ann owns it.")[0].rpartition('"""')[2]


def test_where_no_summary_says_anything_the_answer_is_a_refusal_in_the_questions_language() -> None:
    for question, refusal in ((QUESTION, "I don't know."), ("谁拥有这个值？", "我不知道。")):
        llm = ScriptedLLM("I don't know.", context_window=900, num_output=100)
        response = synthesized(TreeSummarize(llm), question, long_passages(3, times=8))
        assert (response.text, response.outcome, response.refused) == (refusal, Outcome.REFUSED, True)
        assert len(llm.prompts) == 3


@EVERY_WAY
def test_more_calls_than_allowed_are_refused_before_the_first(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM("One.", context_window=900, num_output=100)
    mode = TreeSummarize(llm, max_calls=5)
    with pytest.raises(CallBudgetExceeded, match=r"7 calls, 5 are allowed"):
        respond(mode, QUESTION, long_passages(6, times=8))
    with pytest.raises(CallBudgetExceeded):
        mode.plan(QUESTION, long_passages(6, times=8))
    assert llm.prompts == []
    assert respond(mode, QUESTION, long_passages(4, times=8)).text == "One."


def test_one_prompt_is_one_call() -> None:
    llm = ScriptedLLM("One.")
    planned = TreeSummarize(llm).plan(QUESTION, passages("a", "b"))
    assert (planned.exact, planned.by_stage) == (True, {"answer": 1})
