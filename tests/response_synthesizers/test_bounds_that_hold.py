"""What holds whatever the answers: a plan's bounds, the window, names that are refused."""

from __future__ import annotations

import contextlib
from collections import Counter

import pytest
from tests.response_synthesizers.scenes import QUESTION, asynthesized, long_passages, passages, synthesized

from responsa.prompts import PromptTemplate
from responsa.response_synthesizers import BaseSynthesizer, CompactAndRefine, Refine
from responsa.schema.errors import InvalidOption, UsageError, WindowTooSmall
from responsa.testing import ScriptedLLM


def test_no_prompt_of_a_run_is_longer_than_planned():
    llm = ScriptedLLM("word " * 2000, context_window=2000, num_output=300)
    planned = Refine(llm).plan(QUESTION, long_passages(5))
    made = synthesized(Refine(llm), QUESTION, long_passages(5)).trace
    assert all(
        record.call.prompt_tokens <= call.prompt_tokens for call, record in zip(planned.calls, made, strict=False)
    )


def test_calls_by_stage_are_as_planned_also_where_the_first_passages_hold_no_answer():
    llm = ScriptedLLM(["I don't know.", "", "Yes."])
    nodes = passages("a", "b", "c", "d")
    planned = Refine(llm).plan(QUESTION, nodes)
    assert planned.by_stage == Counter(r.call.stage for r in synthesized(Refine(llm), QUESTION, nodes).trace)


def test_after_a_refusal_no_call_costs_more_than_planned():
    llm = ScriptedLLM("I don't know.", context_window=1000, num_output=40)
    mode = Refine(
        llm,
        text_qa_template=PromptTemplate("long " * 150 + "{query_str} {context_str}"),
        refine_template=PromptTemplate("{query_str} {existing_answer} {context_msg}"),
    )
    planned = mode.plan(QUESTION, long_passages(4))
    made = synthesized(mode, QUESTION, long_passages(4)).trace
    assert all(
        record.call.prompt_tokens <= call.prompt_tokens for call, record in zip(planned.calls, made, strict=False)
    )


class Uneven(ScriptedLLM):
    """Counts much more where the fourth passage stands in a prompt."""

    def count_prompts(self, prompts):
        more = [300 * sum("Passage 4" in m.content for m in prompt) for prompt in prompts]
        return [tokens + extra for tokens, extra in zip(super().count_prompts(prompts), more, strict=False)]


def test_a_later_prompt_over_the_window_is_never_sent():
    llm = Uneven("I don't know.", context_window=600, num_output=200)
    with contextlib.suppress(WindowTooSmall):
        synthesized(Refine(llm), QUESTION, long_passages(6, times=3))
    assert all(t + s.max_tokens <= 600 for t, s in zip(llm.count_prompts(llm.prompts), llm.samplings, strict=False))


def test_a_window_that_proves_too_small_in_the_middle_keeps_the_answer():
    llm = Uneven("An answer.", context_window=600, num_output=200)
    try:
        response = synthesized(Refine(llm), QUESTION, long_passages(6, times=3))
    except WindowTooSmall:
        assert llm.prompts == []  # else what was paid for is lost
        return
    assert response.text == "An answer."


def test_a_mode_that_overrides_get_response_alone_runs_async_in_a_thread():
    class Mine(BaseSynthesizer):
        def get_response(self, query_str, text_chunks, **response_kwargs):
            return "mine"

    assert asynthesized(Mine(ScriptedLLM()), QUESTION, passages("a")).text == "mine"


@pytest.mark.parametrize("name", ["query_str", "context_str", "llm"])
def test_a_variable_named_as_one_of_ours_is_refused_by_name(name):
    with pytest.raises(UsageError, match=name):
        synthesized(CompactAndRefine(ScriptedLLM()), QUESTION, passages("a"), **{name: "x"})


def test_an_unknown_language_is_refused():
    with pytest.raises(InvalidOption, match="language"):
        CompactAndRefine(ScriptedLLM(), language="fr")


def test_the_text_of_a_program_and_its_stream_agree_on_blanks():
    from responsa.programs import LLMCall, ask
    from responsa.schema.messages import ChatMessage

    class Mine(BaseSynthesizer):
        def program(self, task):
            return (yield from ask(LLMCall("answer", (ChatMessage("user", "q"),)))).text

    told = list(Mine(ScriptedLLM(" There is one owner [1].")).stream_events(QUESTION, passages("There is one owner.")))
    response = told[-1].response
    assert "".join(e.text for e in told if e.type == "text_delta") == response.text
