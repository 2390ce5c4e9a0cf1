"""Refine by decisions: keep or replace, as an object; a kept answer is carried on byte for byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    aevents,
    astreamed,
    events,
    passages,
    stages,
    streamed,
    synthesized,
)

from responsa import get_response_synthesizer
from responsa.response_synthesizers import CompactAndRefine, Refine
from responsa.schema.errors import InvalidOption, StructuredOutputFailed
from responsa.schema.events import AnswerReplaced, TextDelta
from responsa.schema.messages import ChatMessage
from responsa.schema.response import Outcome, Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
FOUR = passages("Passage 1.", "Passage 2.", "Passage 3.", "Passage 4.")


def decision(satisfied: bool, answer: Any) -> str:
    return json.dumps({"query_satisfied": satisfied, "answer": answer}, ensure_ascii=False)


def by_passage(answers: dict[int, str]) -> Callable[[Sequence[ChatMessage]], str]:
    """Answer by the number of the passage that is shown."""

    def script(messages: Sequence[ChatMessage]) -> str:
        text = messages[-1].content
        return answers[next(number for number in answers if f"Passage {number}." in text)]

    return script


@EVERY_WAY
def test_a_kept_answer_is_carried_on_byte_for_byte(respond: Callable[..., Response]) -> None:
    first = "Ann owns it:  two blanks,\n a tab\t and “quotes” [1]."
    llm = ScriptedLLM([first, decision(False, "Something else."), decision(False, ""), decision(False, "No.")])
    response = respond(Refine(llm, refine_policy="decide"), QUESTION, FOUR)
    assert response.text == first
    assert all(first in prompt[-1].content for prompt in llm.prompts[1:])
    assert stages(response) == ["answer", "refine", "refine", "refine"]


@EVERY_WAY
def test_a_passage_that_answers_replaces_the_answer(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(["Ann.", decision(True, "Ann and Bob."), decision(False, "x"), decision(True, "All four.")])
    response = respond(Refine(llm, refine_policy="decide"), QUESTION, FOUR)
    assert response.text == "All four."
    assert "Ann and Bob." in llm.prompts[2][-1].content


@EVERY_WAY
def test_with_filtering_the_first_passages_may_be_left_out_too(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(
        by_passage(
            {1: decision(False, ""), 2: decision(False, "No."), 3: decision(True, "Ann."), 4: decision(False, "")}
        )
    )
    response = respond(Refine(llm, structured_answer_filtering=True), QUESTION, FOUR)
    assert (response.text, response.outcome) == ("Ann.", Outcome.ANSWERED)
    assert all(sampling.output_schema for sampling in llm.samplings)
    schema = llm.samplings[0].output_schema
    assert schema is not None
    assert list(schema["properties"]) == ["query_satisfied", "answer"]


@EVERY_WAY
def test_where_no_passage_answers_there_is_no_answer_and_no_error(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(decision(False, "Something."))
    response = respond(Refine(llm, structured_answer_filtering=True), QUESTION, FOUR)
    assert (response.text, len(llm.prompts)) == ("I don't know.", 4)
    assert response.refused


@EVERY_WAY
@pytest.mark.parametrize("mode", [Refine, CompactAndRefine])
def test_it_stops_at_the_first_passage_that_answers_where_that_is_asked(
    respond: Callable[..., Response], mode: type[Refine]
) -> None:
    llm = ScriptedLLM([decision(False, ""), decision(True, "Ann."), decision(True, "Bob.")])
    nodes = FOUR if mode is Refine else passages(*(f"Passage {n}. " + "word " * 150 for n in range(1, 5)))
    options: dict[str, Any] = {"structured_answer_filtering": True, "stop_when_satisfied": True}
    if mode is CompactAndRefine:
        llm = ScriptedLLM(llm._script, context_window=900, num_output=100)
    synthesizer = mode(llm, **options)
    planned = synthesizer.plan(QUESTION, nodes)
    response = respond(synthesizer, QUESTION, nodes)
    assert (response.text, len(llm.prompts)) == ("Ann.", 2)
    assert not planned.exact
    assert len(planned.calls) >= 4
    assert [row.shown.value for row in response.coverage] == ["whole", "whole", "not", "not"]


def test_without_decisions_there_is_nothing_to_stop_at() -> None:
    with pytest.raises(InvalidOption, match=r"stop_when_satisfied.*decide"):
        Refine(ScriptedLLM(), stop_when_satisfied=True)
    with pytest.raises(InvalidOption, match="refine_policy"):
        Refine(ScriptedLLM(), refine_policy="guess")  # type: ignore[arg-type]


@pytest.mark.parametrize("told_by", [events, aevents], ids=["blocking", "async"])
def test_the_json_of_a_decision_is_never_shown(told_by: Callable[..., list[Any]]) -> None:
    llm = ScriptedLLM(
        [decision(True, "Ann."), decision(False, "x"), decision(True, "Ann and Bob."), decision(False, "")]
    )
    told = told_by(Refine(llm, structured_answer_filtering=True), QUESTION, FOUR)
    assert [event for event in told if isinstance(event, TextDelta)] == []
    assert [event.text for event in told if isinstance(event, AnswerReplaced)] == ["Ann.", "Ann and Bob."]


@pytest.mark.parametrize("stream_it", [streamed, astreamed], ids=["blocking", "async"])
def test_the_text_stream_gives_the_decided_answer(stream_it: Callable[..., Any]) -> None:
    llm = ScriptedLLM([decision(True, "Ann."), decision(False, "x")])
    pieces, response = stream_it(Refine(llm, structured_answer_filtering=True, streaming=True), QUESTION, FOUR[:2])
    assert "".join(pieces) == response.text == "Ann."


@EVERY_WAY
@pytest.mark.parametrize(
    "broken", ["Ann.", '{"query_satisfied": "yes", "answer": "Ann."}', '{"query_satisfied": true}']
)
def test_a_decision_that_cannot_be_read_is_given_back_once(respond: Callable[..., Response], broken: str) -> None:
    llm = ScriptedLLM([broken, decision(True, "Ann.")])
    response = respond(Refine(llm, structured_answer_filtering=True), QUESTION, FOUR[:1])
    assert (response.text, stages(response)) == ("Ann.", ["answer", "repair"])
    with pytest.raises(StructuredOutputFailed):
        respond(Refine(ScriptedLLM(broken), structured_answer_filtering=True), QUESTION, FOUR[:1])


class Owner(BaseModel):
    """Who owns a thing."""

    name: str


@EVERY_WAY
def test_the_answer_of_a_decision_may_be_an_object(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(
        [
            decision(False, {"name": "x"}),
            decision(True, {"name": "Ann"}),
            decision(False, None),
            decision(True, {"name": "Bo"}),
        ]
    )
    mode = get_response_synthesizer(llm, response_mode="refine", structured_answer_filtering=True, output_cls=Owner)
    response = respond(mode, QUESTION, FOUR)
    assert response.value == Owner(name="Bo")
    assert '{"name":"Ann"}' in llm.prompts[3][-1].content


def test_the_prompts_ask_for_a_decision_in_the_questions_language() -> None:
    for question, words in ((QUESTION, "query_satisfied is true"), ("谁拥有它？", "query_satisfied 为 true")):
        llm = ScriptedLLM(decision(True, "Ann."))
        synthesized(Refine(llm, structured_answer_filtering=True), question, FOUR[:2])
        assert all(words in prompt[-1].content for prompt in llm.prompts)
