"""The nine modes, each as its specification says: its calls, what they show, its text, its sources, its warnings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packing.texts import sources
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    astreamed,
    codes,
    events,
    long_passages,
    passages,
    stages,
    streamed,
    synthesized,
)

from responsa import get_response_synthesizer
from responsa.response_synthesizers import ResponseMode
from responsa.schema.errors import StreamingNotSupported, WindowTooSmall
from responsa.schema.nodes import NodeWithScore
from responsa.schema.plans import Shown
from responsa.schema.response import Outcome, Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
CALLING = ["refine", "compact", "simple_summarize", "tree_summarize", "accumulate", "compact_accumulate", "generation"]
SEVERAL_ANSWERS = ["accumulate", "compact_accumulate"]


@dataclass(frozen=True)
class Case:
    """A mode over three short passages that fit into one prompt, and over four that do not."""

    mode: str
    short_calls: list[str]
    short_text: str
    long_calls: list[str]
    long_shown: list[str]
    exact: bool = True
    grounded: bool = True

    def of_citations(self, calls: list[str]) -> list[str]:
        """What is said of the answer's [1]: where each answer has its own passage, the others were not shown it."""
        return ["unknown_citation"] if self.mode in SEVERAL_ANSWERS and len(calls) > 1 else []


ONE = "An owner [1]."
CASES = [
    Case("refine", ["answer", "refine", "refine"], ONE, ["answer", *["refine"] * 3], ["whole"] * 4),
    Case("compact", ["answer"], ONE, ["answer", *["refine"] * 3], ["whole"] * 4),
    Case("simple_summarize", ["answer"], ONE, ["answer"], ["whole", "cut", "not", "not"]),
    Case("tree_summarize", ["answer"], ONE, [*["summarize"] * 4, "answer"], ["whole"] * 4, exact=False),
    Case(
        "accumulate",
        ["answer"] * 3,
        "\n---------------------\n".join(f"Response {n}: {ONE}" for n in (1, 2, 3)),
        ["answer"] * 4,
        ["whole"] * 4,
    ),
    Case("compact_accumulate", ["answer"], f"Response 1: {ONE}", ["answer"] * 4, ["whole"] * 4),
    Case("generation", ["answer"], ONE, ["answer"], ["not"] * 4, grounded=False),
    Case("no_text", [], "", [], ["not"] * 4, grounded=False),
    Case("context_only", [], "One owner.\n\nTwo owners.\n\nThree owners.", [], ["not"] * 4),
]
EACH = pytest.mark.parametrize("case", CASES, ids=[case.mode for case in CASES])


@EVERY_WAY
@EACH
def test_short_passages(respond: Callable[..., Response], case: Case) -> None:
    llm = ScriptedLLM(ONE, slots=2)
    nodes = passages("One owner.", "Two owners.", "Three owners.")
    response = respond(get_response_synthesizer(llm, response_mode=case.mode), QUESTION, nodes)
    assert stages(response) == case.short_calls
    assert response.text == case.short_text
    assert response.source_nodes == nodes
    assert response.grounded is case.grounded
    assert response.outcome is Outcome.ANSWERED
    assert codes(response) == case.of_citations(case.short_calls)
    assert [record.call.prompt_tokens for record in response.trace] == llm.count_prompts(llm.prompts)


@EVERY_WAY
@EACH
def test_passages_that_do_not_fit_into_one_prompt(respond: Callable[..., Response], case: Case) -> None:
    llm = ScriptedLLM(ONE, context_window=900, num_output=100)
    synthesizer = get_response_synthesizer(llm, response_mode=case.mode, use_async=False)
    nodes = long_passages(4, times=8)
    planned = synthesizer.plan(QUESTION, nodes)
    assert llm.prompts == []
    response = respond(synthesizer, QUESTION, nodes)
    assert stages(response) == case.long_calls
    assert [row.shown.value for row in response.coverage] == case.long_shown
    expected = case.of_citations(case.long_calls)
    assert codes(response) == expected + (["passages_cut"] if "cut" in case.long_shown else [])
    assert planned.exact is (case.exact or len(case.long_calls) < 2)
    assert len(planned.calls) == len(response.trace) if planned.exact else len(planned.calls) >= len(response.trace)
    assert planned.coverage == response.coverage
    for prompt, sampling in zip(llm.prompts, llm.samplings, strict=True):
        assert llm.count_prompts([prompt])[0] + (sampling.max_tokens or 0) <= 900


@pytest.mark.parametrize("stream_it", [streamed, astreamed], ids=["blocking", "async"])
@EACH
def test_streamed_text_is_the_text(stream_it: Callable[..., Any], case: Case) -> None:
    llm = ScriptedLLM(ONE)
    synthesizer = get_response_synthesizer(llm, response_mode=case.mode, streaming=True)
    nodes = passages("One owner.", "Two owners.", "Three owners.")
    if case.mode in SEVERAL_ANSWERS:
        with pytest.raises(StreamingNotSupported, match=case.mode):
            stream_it(synthesizer, QUESTION, nodes)
        assert llm.prompts == []
        return
    pieces, response = stream_it(synthesizer, QUESTION, nodes)
    assert "".join(pieces) == response.text == case.short_text
    assert len(pieces) > 3 or case.mode in ("no_text", "context_only")


@EVERY_WAY
@EACH
def test_without_passages_only_generation_asks(respond: Callable[..., Response], case: Case) -> None:
    llm = ScriptedLLM(ONE)
    response = respond(get_response_synthesizer(llm, response_mode=case.mode), QUESTION, [])
    if case.mode == "generation":
        assert (len(llm.prompts), response.text, response.outcome) == (1, ONE, Outcome.ANSWERED)
        return
    assert (llm.prompts, response.text, response.outcome) == ([], "", Outcome.NO_SOURCES)
    assert str(response) == "Nothing was found in the documents for this question."
    mine = get_response_synthesizer(llm, response_mode=case.mode, empty_response="Sorry.")
    assert str(respond(mine, "谁拥有？", [])) == "Sorry."


@pytest.mark.parametrize("mode", ["no_text", "context_only"])
def test_modes_without_a_call_need_no_model(mode: str) -> None:
    for synthesizer in (
        get_response_synthesizer(response_mode=mode),
        get_response_synthesizer(None, response_mode=mode),
    ):
        assert synthesizer.llm is None
        assert synthesizer.plan(QUESTION, passages("One owner.")).calls == ()
        assert synthesizer.synthesize(QUESTION, passages("One owner.")).source_nodes
        assert list(synthesizer.stream_events(QUESTION, passages("One owner.")))[-1].response.trace == ()


def test_context_only_gives_the_texts_of_messages_too() -> None:
    from responsa.llms import ChatMessage, ImageBlock, TextBlock

    messages = [
        ChatMessage("user", blocks=[TextBlock("One."), ImageBlock(url="https://pictures/1.png")]),
        ChatMessage("user", "Two."),
    ]
    mode = get_response_synthesizer(response_mode="context_only", multimodal=True)
    assert mode.get_response_from_messages(QUESTION, messages) == "One.\n\nTwo."


def test_generation_keeps_the_sources_and_shows_the_model_none() -> None:
    llm = ScriptedLLM("From memory [1].")
    response = synthesized(get_response_synthesizer(llm, response_mode="generation"), QUESTION, passages("One owner."))
    assert [message.content for message in llm.prompts[0]] == [QUESTION]
    assert (len(response.source_nodes), response.grounded, response.citations) == (1, False, ())
    assert [row.shown for row in response.coverage] == [Shown.NOT]


def test_the_order_of_passages_is_kept_in_every_mode() -> None:
    nodes = passages(*(f"Passage number {n}." for n in range(1, 7)))
    for mode in CALLING[:-1]:
        llm = ScriptedLLM(ONE)
        synthesized(get_response_synthesizer(llm, response_mode=mode, use_async=False), QUESTION, nodes)
        shown = "".join(prompt[-1].content for prompt in llm.prompts)
        places = [shown.index(f"Passage number {n}.") for n in range(1, 7)]
        assert places == sorted(places), mode


@given(
    nodes=sources(max_size=6),
    answer=st.sampled_from([ONE, "", "I don't know.", "word " * 900, "答案，" * 400, "a. " * 300]),
    window=st.integers(300, 2000),
    max_tokens=st.sampled_from([None, 1, 40, 700]),
    mode=st.sampled_from(CALLING),
)
def test_no_mode_sends_a_prompt_over_the_window_nor_makes_more_calls_than_planned(
    nodes: list[NodeWithScore], answer: str, window: int, max_tokens: int | None, mode: str
) -> None:
    llm = ScriptedLLM(answer, context_window=window, num_output=120)
    synthesizer = get_response_synthesizer(llm, response_mode=mode, use_async=False)
    options = {"max_tokens": max_tokens} if max_tokens else None
    try:
        planned = synthesizer.plan(QUESTION, nodes, llm_kwargs=options)
    except WindowTooSmall:
        assert window < 420
        return
    response = synthesized(synthesizer, QUESTION, nodes, llm_kwargs=options)
    for prompt, sampling in zip(llm.prompts, llm.samplings, strict=True):
        assert sampling.max_tokens is not None
        assert llm.count_prompts([prompt])[0] + sampling.max_tokens <= window
    assert len(llm.prompts) <= len(planned.calls)
    assert sum(record.call.prompt_tokens or 0 for record in response.trace) <= planned.prompt_tokens
    assert planned.calls or response.outcome is Outcome.NO_SOURCES
    if planned.exact:
        assert len(llm.prompts) == len(planned.calls)


@pytest.mark.parametrize("mode", [mode.value for mode in ResponseMode])
def test_no_prompt_and_no_text_holds_a_list_or_a_name_of_nothing(mode: str) -> None:
    """What a peer shows its users: `['text']` inside a prompt, and "Empty Response" for an answer."""
    for answer in (ONE, "", "I don't know."):
        llm = ScriptedLLM(answer)
        for nodes in (passages('He said "one".\nNew line.', "Two."), []):
            synthesizer = get_response_synthesizer(llm, response_mode=mode)
            told = events(synthesizer, QUESTION, nodes)
            texts = [message.content for prompt in llm.prompts for message in prompt]
            assert not any("['" in text or '["' in text or "\\n" in text for text in texts)
            assert "Empty Response" not in "".join([str(told[-1].response), told[-1].response.text, *texts])


@pytest.mark.parametrize("mode", CALLING)
def test_the_text_before_the_passages_is_the_same_in_all_calls_so_that_a_server_can_cache_it(mode: str) -> None:
    llm = ScriptedLLM("An owner [1]. " * 6, context_window=600, num_output=100)
    nodes = long_passages(5, times=4)
    synthesized(get_response_synthesizer(llm, response_mode=mode, use_async=False), QUESTION, nodes)
    texts = ["\0".join(message.content for message in prompt) for prompt in llm.prompts]
    alike = texts[1:] if mode == "compact" else texts  # the first of its calls is asked as if it were the only one
    assert len({re.split("Passages:|Answer so far:", text, maxsplit=1)[0] for text in alike}) == 1
    assert len(llm.prompts) > 1 or mode in ("simple_summarize", "generation")


@pytest.mark.parametrize("mode", CALLING)
@pytest.mark.parametrize(
    ("question", "language", "words"),
    [
        ("Who owns it?", None, "passages"),
        ("谁拥有这个值？", None, "资料"),
        ("Who owns it?", "zh", "资料"),
        ("谁拥有这个值？", "en", "passages"),
        ("Rust 里谁拥有 Box？", "auto", "资料"),
    ],
)
def test_prompts_are_in_the_language_of_the_question_or_the_one_asked_for(
    mode: str, question: str, language: Any, words: str
) -> None:
    llm = ScriptedLLM(ONE)
    synthesized(get_response_synthesizer(llm, response_mode=mode, language=language), question, passages("One owner."))
    shown = "".join(message.content for message in llm.prompts[0])
    assert question in shown
    assert (words in shown) is (mode != "generation")


def test_calls_that_hang_together_are_as_many_at_once_as_was_said() -> None:
    for mode in ("accumulate", "tree_summarize"):
        for options, most in (
            ({}, 3),
            ({"concurrency": 5}, 5),
            ({"use_async": False}, 1),
            ({"use_async": True, "concurrency": 2}, 2),
        ):
            for respond in RESPONDING.values():
                llm = ScriptedLLM("An owner [1].", context_window=500, num_output=100, slots=3)
                respond(
                    get_response_synthesizer(llm, response_mode=mode, **options), QUESTION, long_passages(12, times=5)
                )
                assert llm.peak == most, (mode, options)
                assert llm.under_way == 0
