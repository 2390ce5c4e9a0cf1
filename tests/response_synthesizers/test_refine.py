"""Refine: each later passage may improve the answer; a refusal never replaces one; a failure keeps what there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    BreakingLLM,
    aevents,
    astreamed,
    codes,
    events,
    long_passages,
    passages,
    stages,
    streamed,
    synthesized,
)

from responsa.prompts import PromptTemplate, SelectorPromptTemplate
from responsa.response_synthesizers import CompactAndRefine, Refine
from responsa.schema.errors import RateLimited, UnknownOption
from responsa.schema.events import AnswerReplaced, StepFinished, TextDelta
from responsa.schema.messages import ChatMessage
from responsa.schema.notices import Notice
from responsa.schema.response import Outcome, Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
FIVE = passages(*(f"Passage number {n}." for n in range(1, 6)))


def prompt_text(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(message.content for message in messages)


@EVERY_WAY
def test_every_passage_is_shown_once_and_the_last_answer_is_the_answer(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM([f"Answer {n}." for n in range(1, 6)])
    response = respond(Refine(llm), QUESTION, FIVE)
    assert (response.text, response.outcome) == ("Answer 5.", Outcome.ANSWERED)
    assert stages(response) == ["answer", *["refine"] * 4]
    for number, prompt in enumerate(map(prompt_text, llm.prompts), 1):
        assert [n for n in range(1, 6) if f"Passage number {n}." in prompt] == [number]
        assert (f"Answer {number - 1}." in prompt) == (number > 1)
        assert prompt.index(QUESTION) < prompt.index("Passage number")


@EVERY_WAY
@pytest.mark.parametrize("refusal", ["I don't know.", "“我不知道。”", " I DON’T KNOW [3]\n", "", " \n"])
def test_a_refusal_or_an_empty_answer_never_replaces_an_answer(respond: Callable[..., Response], refusal: str) -> None:
    llm = ScriptedLLM(["First.", refusal, "Third.", refusal, refusal])
    response = respond(Refine(llm), QUESTION, FIVE)
    assert (response.text, response.outcome) == ("Third.", Outcome.ANSWERED)
    assert "First." in prompt_text(llm.prompts[2])
    assert "Third." in prompt_text(llm.prompts[4])


@EVERY_WAY
def test_an_answer_replaces_a_refusal(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(["I don't know.", "", "Third.", "Fourth.", "I don't know."])
    response = respond(Refine(llm), QUESTION, FIVE)
    assert (response.text, response.outcome) == ("Fourth.", Outcome.ANSWERED)
    assert not any("I don't know.\n" in message.content for prompt in llm.prompts for message in prompt[1:])


@EVERY_WAY
@pytest.mark.parametrize(("refusal", "question"), [("I don't know.", QUESTION), ("我不知道。", "谁拥有值？")])
def test_refusals_alone_are_a_refusal(respond: Callable[..., Response], refusal: str, question: str) -> None:
    response = respond(Refine(ScriptedLLM(refusal)), question, FIVE)
    assert (response.text, response.outcome, response.refused) == (refusal, Outcome.REFUSED, True)
    assert response.citations == ()


@EVERY_WAY
def test_a_failure_in_the_third_step_of_five_keeps_the_answer_and_says_so(respond: Callable[..., Response]) -> None:
    failure = RateLimited("http://server", 3.0)
    llm = ScriptedLLM(["First.", "Second.", failure])
    response = respond(Refine(llm), QUESTION, FIVE)
    assert (response.text, response.outcome) == ("Second.", Outcome.STEP_FAILED)
    assert Notice("step_failed", {"stage": "refine", "reason": str(failure)}) in response.warnings
    assert "passages_cut" in codes(response)
    assert [record.error for record in response.trace] == [None, None, failure]
    assert [row.characters > 0 for row in response.coverage] == [True, True, False, False, False]
    assert len(llm.prompts) == 3


@EVERY_WAY
def test_a_failure_of_the_first_step_is_raised(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(RateLimited("http://server", 3.0))
    with pytest.raises(RateLimited):
        respond(Refine(llm), QUESTION, FIVE)
    assert len(llm.prompts) == 1


@pytest.mark.parametrize("told_by", [events, aevents])
def test_drafts_are_shown_at_once_and_replaced(told_by: Callable[..., list[Any]]) -> None:
    told = told_by(Refine(ScriptedLLM(["First.", "I don't know.", "Third."])), QUESTION, FIVE[:3])
    shown = [(event.number, event.text, event.provisional) for event in told if isinstance(event, TextDelta)]
    assert "".join(text for number, text, _ in shown if number == 0) == "First."
    assert all(provisional == (number < 2) for number, _, provisional in shown)
    assert not any(number == 1 for number, _, _ in shown)
    assert [event.text for event in told if isinstance(event, AnswerReplaced)] == ["Third."]


@pytest.mark.parametrize("told_by", [events, aevents])
def test_a_failure_brings_back_the_answer_that_its_draft_had_begun_to_replace(
    told_by: Callable[..., list[Any]],
) -> None:
    told = told_by(Refine(BreakingLLM(["First.", "Second it is."], call=2, after=3)), QUESTION, FIVE[:2])
    assert "".join(event.text for event in told if isinstance(event, TextDelta) and event.number == 1) == "Second it"
    assert [event.text for event in told if isinstance(event, AnswerReplaced)] == ["First."]
    failed = [event for event in told if isinstance(event, StepFinished)][-1]
    assert failed.error is not None
    assert getattr(failed.error, "text_so_far", None) == "Second it"
    assert told[-1].response.text == "First."


@pytest.mark.parametrize("stream_it", [streamed, astreamed])
def test_an_answer_that_outgrows_its_reserve_is_carried_on_shortened_with_a_warning(
    stream_it: Callable[..., Any],
) -> None:
    sentences = "".join(f"Sentence number {n} of a long answer. " for n in range(200))
    llm = ScriptedLLM(sentences, context_window=500, num_output=200)
    _, response = stream_it(Refine(llm, streaming=True), QUESTION, long_passages(2, times=1))
    (notice, *_) = [one for one in response.warnings if one.code == "answer_shortened"]
    assert set(notice.details) == {"stage", "tokens", "room"}
    assert notice.details["tokens"] > notice.details["room"]
    carried = prompt_text(llm.prompts[1])
    assert "Sentence number 0 of a long answer." in carried
    assert "Sentence number 30" not in carried


def test_templates_may_be_ones_own_and_depend_on_the_model() -> None:
    llm = ScriptedLLM("An answer.")
    mode = Refine(
        llm,
        text_qa_template=PromptTemplate("QA {query_str} | {context_str} | {tone} | {missing}"),
        refine_template=SelectorPromptTemplate(
            PromptTemplate("never"), [(lambda _: True, PromptTemplate("RE {existing_answer} | {context_msg}"))]
        ),
    )
    synthesized(mode, QUESTION, FIVE[:2], tone="dry")
    first, second = map(prompt_text, llm.prompts)
    assert first == f"QA {QUESTION} | 1: Passage number 1. | dry | {{missing}}"
    assert second == "RE An answer. | 2: Passage number 2."


def test_prompts_can_be_read_and_replaced_by_name_and_unknown_names_are_refused() -> None:
    mode = CompactAndRefine(llm := ScriptedLLM())
    assert {"text_qa_template", "refine_template"} <= set(mode.get_prompts())
    mode.update_prompts({"text_qa_template": PromptTemplate("Mine {context_str}")})
    with pytest.raises(UnknownOption, match="summary_template"):
        mode.update_prompts({"summary_template": PromptTemplate("x")})
    synthesized(mode, QUESTION, FIVE)
    assert prompt_text(llm.prompts[0]).startswith("Mine 1: ")


@pytest.mark.parametrize(
    ("language", "question", "chinese"),
    [(None, QUESTION, False), (None, "谁拥有值？", True), ("en", "谁拥有值？", False), ("zh", QUESTION, True)],
)
def test_prompts_are_in_the_questions_language_or_the_one_asked_for(
    language: Any, question: str, chinese: bool
) -> None:
    llm = ScriptedLLM()
    response = synthesized(CompactAndRefine(llm, language=language), question, FIVE)
    assert ("资料" in prompt_text(llm.prompts[0])) == chinese
    assert response.language == ("zh" if chinese else "en")


def test_nothing_the_caller_gave_is_changed() -> None:
    nodes = long_passages(4)
    before = [(source.node.hash, source.node_id, source.score) for source in nodes]
    llm = ScriptedLLM("A [1].", context_window=500)
    mode = CompactAndRefine(llm)
    first = synthesized(mode, QUESTION, nodes, llm_kwargs=(options := {"max_tokens": 60}))
    second = synthesized(mode, QUESTION, nodes, llm_kwargs=options)
    assert [(source.node.hash, source.node_id, source.score) for source in nodes] == before
    assert options == {"max_tokens": 60}
    assert first.text == second.text
    assert [record.call for record in first.trace] == [record.call for record in second.trace]
