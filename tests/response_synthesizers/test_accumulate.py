"""Accumulate: one independent answer a passage; what fails or says nothing leaves the others as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    aevents,
    codes,
    events,
    long_passages,
    passages,
    synthesized,
)

from responsa.response_synthesizers import Accumulate, CompactAndAccumulate, answered
from responsa.schema.errors import RateLimited, StreamingNotSupported
from responsa.schema.events import PlanMade, TextDelta
from responsa.schema.messages import ChatMessage
from responsa.schema.response import Outcome, Response
from responsa.testing import ScriptedLLM

EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
BOTH_EVENTS = pytest.mark.parametrize("told_by", [events, aevents], ids=["blocking", "async"])


def about(messages: Sequence[ChatMessage]) -> str:
    """Answer with the number of the passage that is shown."""
    return f"It is {messages[-1].content.partition('Passage ')[2].partition('.')[0]}."


def numbered(count: int) -> Any:
    return passages(*(f"Passage {n}." for n in range(1, count + 1)))


@EVERY_WAY
def test_each_item_keeps_its_answer_and_its_passage(respond: Callable[..., Response]) -> None:
    nodes = numbered(5)
    response = respond(Accumulate(ScriptedLLM(about, slots=3)), QUESTION, nodes)
    assert [item.text for item in response.items] == [f"It is {n}." for n in range(1, 6)]
    assert [item.source_nodes for item in response.items] == [(node,) for node in nodes]
    assert [item.numbers for item in response.items] == [(n,) for n in range(1, 6)]
    assert response.text == "\n---------------------\n".join(f"Response {n}: It is {n}." for n in range(1, 6))


@EVERY_WAY
def test_one_failure_of_ten_is_named_and_leaves_the_other_nine(respond: Callable[..., Response]) -> None:
    def script(messages: Sequence[ChatMessage]) -> Any:
        return RateLimited("http://server") if "Passage 4." in messages[-1].content else about(messages)

    response = respond(Accumulate(ScriptedLLM(script, slots=4)), QUESTION, numbered(10))
    assert response.outcome is Outcome.STEP_FAILED
    assert [item.text for item in response.items if item.error is None] == [
        f"It is {n}." for n in range(1, 11) if n != 4
    ]
    (failed,) = [item for item in response.items if item.error is not None]
    assert (failed.index, failed.numbers, type(failed.error)) == (3, (4,), RateLimited)
    assert "Response 4" not in response.text
    assert "Response 10: It is 10." in response.text
    (notice,) = [notice for notice in response.warnings if notice.code == "step_failed"]
    assert notice.details["stage"] == "answer 4"
    assert "http://server" in notice.details["reason"]


@EVERY_WAY
def test_where_all_fail_the_first_error_is_raised(respond: Callable[..., Response]) -> None:
    with pytest.raises(RateLimited):
        respond(Accumulate(ScriptedLLM(RateLimited("http://server"))), QUESTION, numbered(3))


def test_answers_may_be_left_out_and_the_others_keep_their_numbers() -> None:
    llm = ScriptedLLM(["Yes.", "I don't know.", "", "Maybe."])
    response = synthesized(Accumulate(llm, item_filter=answered, separator=" | "), QUESTION, numbered(4))
    assert response.text == "Response 1: Yes. | Response 4: Maybe."
    assert [item.index for item in response.items] == [0, 3]
    everything = synthesized(Accumulate(ScriptedLLM(["Yes.", "I don't know."])), QUESTION, numbered(2))
    assert everything.text == "Response 1: Yes.\n---------------------\nResponse 2: I don't know."


@pytest.mark.parametrize("mode", [Accumulate, CompactAndAccumulate])
def test_there_is_no_text_to_stream_and_nothing_is_asked(mode: type[Accumulate]) -> None:
    llm = ScriptedLLM("Yes.")
    for nodes in (numbered(2), []):
        with pytest.raises(StreamingNotSupported, match=r"stream_events.*streaming=False"):
            mode(llm, streaming=True).synthesize(QUESTION, nodes)
    with pytest.raises(StreamingNotSupported):
        mode(llm, streaming=True).get_response(QUESTION, ["Passage 1."])
    assert llm.prompts == []


@BOTH_EVENTS
def test_the_event_stream_tells_every_items_pieces_with_its_index(told_by: Callable[..., Any]) -> None:
    llm = ScriptedLLM(about, slots=3)
    told = told_by(Accumulate(llm, streaming=True), QUESTION, numbered(4))
    texts = dict.fromkeys(range(4), "")
    for event in told:
        if isinstance(event, TextDelta):
            assert event.item is not None
            assert not event.provisional
            texts[event.item] += event.text
    assert texts == {index: f"It is {index + 1}." for index in range(4)}
    assert isinstance(told[0], PlanMade)
    assert len(told[0].plan.calls) == 4


def test_a_passage_larger_than_a_prompt_gives_several_items_of_it() -> None:
    llm = ScriptedLLM("Yes.", context_window=500, num_output=60)
    nodes = long_passages(2, times=16)
    response = synthesized(Accumulate(llm), QUESTION, nodes)
    assert len(response.items) > 2
    assert {item.numbers for item in response.items} == {(1,), (2,)}
    assert codes(response) == []


def test_compact_accumulate_asks_of_several_passages_at_once() -> None:
    nodes = numbered(6)
    response = synthesized(CompactAndAccumulate(ScriptedLLM("Yes.")), QUESTION, nodes)
    assert [item.source_nodes for item in response.items] == [tuple(nodes)]
