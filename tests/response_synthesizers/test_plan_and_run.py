"""What is planned is what happens: calls, tokens, coverage, for whatever the model says."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packing.texts import sources
from tests.response_synthesizers.scenes import QUESTION, aevents, events, long_passages, passages, synthesized

from responsa.response_synthesizers import CompactAndRefine, Refine
from responsa.schema.errors import WindowTooSmall
from responsa.schema.events import PlanMade
from responsa.schema.nodes import NodeWithScore
from responsa.testing import ScriptedLLM

MODES = pytest.mark.parametrize("mode", [Refine, CompactAndRefine], ids=["refine", "compact"])
ANSWERS = st.lists(
    st.sampled_from(
        ["An owner [1].", "", "  ", "I don't know.", "我不知道。", "word " * 900, "答案，" * 500, "a. " * 40]
    ),
    min_size=1,
    max_size=4,
)


@MODES
@given(sources(max_size=5), ANSWERS, st.integers(400, 1200))
def test_a_run_makes_exactly_the_planned_number_of_calls_and_shows_what_was_planned(
    mode: type[Refine], nodes: list[NodeWithScore], answers: list[str], window: int
) -> None:
    llm = ScriptedLLM(answers, context_window=window, num_output=120)
    planned = mode(llm).plan(QUESTION, nodes)
    assert llm.prompts == []
    assert planned.exact
    response = synthesized(mode(llm), QUESTION, nodes)
    assert len(planned.calls) == len(response.trace) == len(llm.prompts)
    assert [call.spans for call in planned.calls] == [record.call.spans for record in response.trace]
    assert planned.coverage == response.coverage


@MODES
@pytest.mark.parametrize("answer", ["An owner [1].", "word " * 900, "a. " * 400])
@pytest.mark.parametrize("window", [450, 600, 1000])
def test_every_answer_that_says_something_is_refined_in_the_planned_stages(
    mode: type[Refine], answer: str, window: int
) -> None:
    llm = ScriptedLLM(answer, context_window=window, num_output=120)
    planned = mode(llm).plan(QUESTION, long_passages(5))
    response = synthesized(mode(llm), QUESTION, long_passages(5))
    assert planned.by_stage == Counter(record.call.stage for record in response.trace)
    assert planned.by_stage == {"answer": 1, "refine": len(planned.calls) - 1}
    assert len(planned.calls) > 1


def test_compact_makes_one_call_where_everything_fits_and_refine_one_a_passage() -> None:
    nodes = passages("One owner.", "Another owner.", "", "A third.")
    assert CompactAndRefine(ScriptedLLM()).plan(QUESTION, nodes).by_stage == {"answer": 1}
    assert Refine(ScriptedLLM()).plan(QUESTION, nodes).by_stage == {"answer": 1, "refine": 2}


@MODES
def test_both_planners_and_both_event_streams_tell_the_same_plan(mode: type[Refine]) -> None:
    llm = ScriptedLLM("An owner [1].", context_window=500, num_output=100)
    planned = mode(llm).plan(QUESTION, long_passages(4))
    assert asyncio.run(mode(llm).aplan(QUESTION, long_passages(4))) == planned
    for told in (events, aevents):
        first = told(mode(llm), QUESTION, long_passages(4))[0]
        assert isinstance(first, PlanMade)
        assert first.plan == planned


@MODES
def test_a_question_that_leaves_no_room_is_refused_before_any_call_with_the_numbers(mode: type[Refine]) -> None:
    llm = ScriptedLLM(context_window=400)
    for ask in (mode(llm).plan, mode(llm).synthesize):
        with pytest.raises(WindowTooSmall) as error:
            ask("why " * 300, long_passages(2))
        assert error.value.window == 400
        assert sum(tokens for _, tokens in error.value.table) > 400
    assert llm.prompts == []


@MODES
@pytest.mark.parametrize(("num_output", "max_tokens"), [(4000, None), (100, 2000)])
def test_a_shrunken_answer_reserve_is_told(mode: type[Refine], num_output: int, max_tokens: int | None) -> None:
    llm = ScriptedLLM("An owner [1].", context_window=360, num_output=num_output)
    options = {"max_tokens": max_tokens} if max_tokens else {}
    response = synthesized(mode(llm), QUESTION, long_passages(4), llm_kwargs=options)
    (notice,) = [one for one in response.warnings if one.code == "output_reserve_shrunk"]
    given = min(sampling.max_tokens for sampling in llm.samplings)
    assert notice.details == {"wanted": max_tokens or 120, "given": given, "window": 360}
    assert given >= 48


@MODES
def test_what_the_caller_says_of_sampling_reaches_every_call(mode: type[Refine]) -> None:
    llm = ScriptedLLM("An owner [1].", context_window=500)
    options = {"max_tokens": 50, "temperature": 0.0, "seed": 7, "stop": "\n\n", "mirostat": 2}
    synthesized(mode(llm), QUESTION, long_passages(4), llm_kwargs=options)
    assert len(llm.samplings) > 1
    for sampling in llm.samplings:
        assert (sampling.max_tokens, sampling.temperature, sampling.seed) == (50, 0.0, 7)
        assert (sampling.stop, sampling.extra) == (("\n\n",), {"mirostat": 2})
