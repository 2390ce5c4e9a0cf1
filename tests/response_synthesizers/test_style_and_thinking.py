"""How an answer is written: for whom, at which length, with which wishes; and reasoned about before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from responsa import get_response_synthesizer
from responsa.prompts import REASONING_START, AnswerStyle
from responsa.schema.errors import InvalidOption, StructuredOutputFailed, UnknownOption
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.response import Response
from responsa.testing import ScriptedLLM

NODES = [NodeWithScore(TextNode(f"The X200 pump needs oil number {number}. " * 8)) for number in range(6)]
ASKING_MODES = [
    *("compact", "refine", "tree_summarize", "simple_summarize", "accumulate", "compact_accumulate", "generation")
]
SCHEMA = {
    "type": "object",
    "properties": {"oil": {"type": "string"}, "bar": {"type": "integer"}},
    "required": ["oil"],
    "additionalProperties": False,
}


class Reasoner(ScriptedLLM):
    """A model that reasons by itself, and may be told not to."""

    def __init__(self, *, switch: bool) -> None:
        super().__init__("Oil.", reasoning="Well.", context_window=700)
        self._metadata = replace(self._metadata, reasons=True, reasoning_switch=switch)


def answer(llm: ScriptedLLM, mode: str = "compact", question: str = "Which oil?", **options: Any) -> Response:
    response = get_response_synthesizer(llm, response_mode=mode, **options).synthesize(question, NODES)
    assert isinstance(response, Response)
    return response


@pytest.mark.parametrize("mode", ASKING_MODES)
def test_every_prompt_ends_with_how_to_write_and_still_fits(mode: str) -> None:
    llm = ScriptedLLM("Oil.", context_window=700)
    answer(llm, mode, style=AnswerStyle("expert", "brief", "Name   the\nvendor."))
    assert llm.prompts
    for prompt in llm.prompts:
        assert prompt[-1].content.endswith('"Name the vendor."')
        assert "For an expert" in prompt[-1].content
        assert "two sentences at most" in prompt[-1].content
        assert llm.count_prompts([prompt])[0] < 700


def test_it_is_written_in_the_questions_language() -> None:
    llm = ScriptedLLM("油。")
    answer(llm, question="需要哪种油？", style=AnswerStyle("general", "detailed"))
    assert "回答的写法：用通俗的话" in llm.prompts[0][-1].content


def test_without_wishes_a_prompt_is_as_it_was() -> None:
    plain, styled = ScriptedLLM("Oil."), ScriptedLLM("Oil.")
    answer(plain)
    answer(styled, style=AnswerStyle(), think=None)
    assert plain.prompts == styled.prompts


@pytest.mark.parametrize(
    "wrong", [{"audience": "everybody"}, {"length": "endless"}, {"instructions": "x" * 2001}], ids=str
)
def test_a_wrong_wish_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption):
        AnswerStyle(**wrong)


@pytest.mark.parametrize("mode", ASKING_MODES)
def test_a_model_without_reasoning_is_asked_for_it_and_no_marker_reaches_the_answer(mode: str) -> None:
    llm = ScriptedLLM("<reasoning>It says so.</reasoning>\nOil [1].", context_window=700)
    response = answer(llm, mode, think=True)
    assert all(REASONING_START in prompt[-1].content for prompt in llm.prompts)
    assert "reasoning" not in response.text
    assert "Oil [1]." in response.text
    assert response.reasoning == "It says so."


def test_a_model_that_was_asked_and_marks_nothing_has_just_answered() -> None:
    response = answer(ScriptedLLM("Oil [1]."), think=True)
    assert (response.text, response.reasoning) == ("Oil [1].", "")


@pytest.mark.parametrize("think", [True, False])
def test_a_model_that_can_be_told_to_reason_is_told_in_its_own_way(think: bool) -> None:
    llm = Reasoner(switch=True)
    response = answer(llm, think=think)
    assert all(sampling.extra == {"chat_template_kwargs": {"enable_thinking": think}} for sampling in llm.samplings)
    assert REASONING_START not in llm.prompts[0][-1].content
    assert response.reasoning == "Well."


def test_a_model_that_reasons_anyway_is_not_asked_a_second_time() -> None:
    llm = Reasoner(switch=False)
    assert answer(llm, think=True).reasoning == "Well."
    assert REASONING_START not in llm.prompts[0][-1].content
    assert llm.samplings[0].extra == {}


def test_an_object_is_not_reasoned_about() -> None:
    llm = ScriptedLLM('{"oil": "ISO VG 46"}')
    response = answer(llm, think=True, output_schema=SCHEMA)
    assert REASONING_START not in llm.prompts[0][-1].content
    assert response.value == {"oil": "ISO VG 46"}


@pytest.mark.parametrize("mode", ["no_text", "context_only"])
@pytest.mark.parametrize(
    "option", [{"think": True}, {"style": AnswerStyle("expert")}, {"output_schema": SCHEMA}], ids=str
)
def test_a_mode_that_asks_nobody_refuses_it(mode: str, option: dict[str, Any]) -> None:
    with pytest.raises(UnknownOption):
        get_response_synthesizer(response_mode=mode, **option)


@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize", "simple_summarize", "generation"])
def test_a_json_schema_gives_a_dictionary_that_fits_it(mode: str) -> None:
    llm = ScriptedLLM('Here: {"oil": "ISO VG 46", "bar": 3}', context_window=700)
    response = answer(llm, mode, output_schema=SCHEMA)
    assert response.value == {"oil": "ISO VG 46", "bar": 3}
    assert llm.samplings[-1].output_schema == SCHEMA


def test_an_object_that_does_not_fit_is_repaired_once_or_fails() -> None:
    repaired = answer(ScriptedLLM(['{"bar": 3}', '{"oil": "x"}']), "simple_summarize", output_schema=SCHEMA)
    assert repaired.value == {"oil": "x"}
    with pytest.raises(StructuredOutputFailed, match="oil"):
        answer(ScriptedLLM('{"bar": 3}'), "simple_summarize", output_schema=SCHEMA)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "object", "properties": 3},
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema"}}},
        {"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
    ],
    ids=str,
)
def test_a_schema_that_cannot_be_used_is_refused_before_anything_is_asked(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match="output_schema"):
        get_response_synthesizer(ScriptedLLM(), output_schema=schema)


def test_partial_objects_stream() -> None:
    llm = ScriptedLLM('{"oil": "ISO VG 46"}')
    synthesizer = get_response_synthesizer(llm, output_schema=SCHEMA, streaming=True)
    pieces = list(synthesizer.synthesize("Which oil?", NODES).response_gen)
    assert pieces[-1] == {"oil": "ISO VG 46"}
    assert all(isinstance(piece, dict) for piece in pieces)
