"""Answers as objects, in every mode: whole, partial while they stream, repaired once, cut ones told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    astreamed,
    codes,
    long_passages,
    passages,
    stages,
    streamed,
    synthesized,
)

from responsa import get_response_synthesizer
from responsa.base.response.schema import PydanticResponse
from responsa.schema.errors import StructuredOutputFailed, UnknownOption
from responsa.schema.response import Outcome, Response
from responsa.schema.streaming_response import StreamingResponse
from responsa.testing import ScriptedLLM


class Owner(BaseModel):
    """Who owns a thing."""

    name: str
    things: list[str] = []


ANN = '{"name": "Ann Lee", "things": ["car", "hat"]}'
ANN_OWNS = Owner(name="Ann Lee", things=["car", "hat"])
NODES = passages("Ann Lee owns a car.", "Ann Lee owns a hat.")
EVERY_WAY = pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
ONE_OBJECT = ["refine", "compact", "simple_summarize", "tree_summarize", "generation"]
LISTS = ["accumulate", "compact_accumulate"]


@EVERY_WAY
@pytest.mark.parametrize("mode", ONE_OBJECT)
@pytest.mark.parametrize("written", [ANN, f"Here it is:\n```json\n{ANN}\n```", f"Sure. {ANN} Good luck!"])
def test_the_response_holds_the_object(respond: Callable[..., Response], mode: str, written: str) -> None:
    llm = ScriptedLLM(written)
    response = respond(get_response_synthesizer(llm, response_mode=mode, output_cls=Owner), QUESTION, NODES)
    assert isinstance(response, PydanticResponse)
    assert response.response == response.value == ANN_OWNS
    assert (response.name, response.things) == ("Ann Lee", ["car", "hat"])
    assert response.text == str(response) == ANN_OWNS.model_dump_json()
    assert response.outcome is Outcome.ANSWERED
    assert llm.samplings[0].output_schema == Owner.model_json_schema()
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = response.colour


@EVERY_WAY
@pytest.mark.parametrize("mode", LISTS)
def test_several_answers_are_a_list_of_objects(respond: Callable[..., Response], mode: str) -> None:
    llm = ScriptedLLM(ANN, slots=2)
    response = respond(get_response_synthesizer(llm, response_mode=mode, output_cls=Owner), QUESTION, NODES)
    expected = [ANN_OWNS] * (2 if mode == "accumulate" else 1)
    assert response.value == expected
    assert [item.value for item in response.items] == expected
    assert "name=" not in response.text
    assert response.text.startswith(f"Response 1: {ANN_OWNS.model_dump_json()}")


@pytest.mark.parametrize("mode", ["no_text", "context_only"])
def test_a_mode_without_a_call_refuses_a_class(mode: str) -> None:
    with pytest.raises(UnknownOption, match=f"the mode {mode} has no output_cls"):
        get_response_synthesizer(response_mode=mode, output_cls=Owner)


@pytest.mark.parametrize("stream_it", [streamed, astreamed], ids=["blocking", "async"])
@pytest.mark.parametrize("mode", ONE_OBJECT)
def test_a_stream_gives_partial_objects_and_the_whole_one_last(stream_it: Callable[..., Any], mode: str) -> None:
    llm = ScriptedLLM(ANN)
    synthesizer = get_response_synthesizer(llm, response_mode=mode, output_cls=Owner, streaming=True)
    pieces, response = stream_it(synthesizer, QUESTION, NODES)
    assert all(isinstance(piece, Owner) for piece in pieces)
    assert pieces[-1] == response.response == ANN_OWNS
    names = [getattr(piece, "name", None) for piece in pieces]
    assert "Ann" in names
    assert names.index("Ann") < names.index("Ann Lee")
    assert [len(getattr(piece, "things", [])) for piece in pieces] == sorted(
        len(getattr(p, "things", [])) for p in pieces
    )


def test_a_stream_of_objects_can_be_read_as_text_too() -> None:
    mode = get_response_synthesizer(ScriptedLLM(ANN), output_cls=Owner, streaming=True)
    streaming = mode.synthesize(QUESTION, NODES)
    assert isinstance(streaming, StreamingResponse)
    assert streaming.response_txt == ""
    for piece in streaming.response_gen:
        if getattr(piece, "name", None) == "Ann":
            assert streaming.response_txt == '{"name":"Ann","things":[]}'
    assert str(streaming) == streaming.response_txt == ANN_OWNS.model_dump_json()


@EVERY_WAY
@pytest.mark.parametrize("mode", ONE_OBJECT + LISTS)
@pytest.mark.parametrize("broken", ['{"name": 3', "Ann Lee.", '{"things": ["car"]}', "", "[1, 2]"])
def test_a_broken_object_is_given_back_once_to_be_corrected(
    respond: Callable[..., Response], mode: str, broken: str
) -> None:
    llm = ScriptedLLM([broken, ANN])
    synthesizer = get_response_synthesizer(llm, response_mode=mode, output_cls=Owner, use_async=False)
    response = respond(synthesizer, QUESTION, NODES[:1])
    assert stages(response) == ["answer", "repair"]
    assert response.value in (ANN_OWNS, [ANN_OWNS])
    assert [message.role.value for message in llm.prompts[1][-2:]] == ["assistant", "user"]
    assert llm.prompts[1][-2].content == broken
    assert response.coverage[0].shown == ("not" if mode == "generation" else "whole")
    planned = synthesizer.plan(QUESTION, NODES[:1])
    assert (planned.by_stage, planned.exact) == ({"answer": 1, "repair": 1}, False)


@EVERY_WAY
@pytest.mark.parametrize("mode", ONE_OBJECT + LISTS)
def test_an_object_that_stays_broken_is_an_error_that_says_what_is_wrong(
    respond: Callable[..., Response], mode: str
) -> None:
    llm = ScriptedLLM('{"things": []}')
    synthesizer = get_response_synthesizer(llm, response_mode=mode, output_cls=Owner)
    with pytest.raises(StructuredOutputFailed, match="name: Field required"):
        respond(synthesizer, QUESTION, NODES[:1])
    assert len(llm.prompts) == 2


@EVERY_WAY
def test_an_object_cut_at_its_limit_is_not_asked_for_again(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM(ANN)
    mode = get_response_synthesizer(llm, output_cls=Owner)
    with pytest.raises(StructuredOutputFailed, match="cut at its token limit"):
        respond(mode, QUESTION, NODES, llm_kwargs={"max_tokens": 5})
    assert len(llm.prompts) == 1


@EVERY_WAY
def test_a_later_object_that_stays_broken_keeps_the_earlier_one_and_says_so(respond: Callable[..., Response]) -> None:
    llm = ScriptedLLM([ANN, "no", "no"])
    response = respond(get_response_synthesizer(llm, response_mode="refine", output_cls=Owner), QUESTION, NODES)
    assert response.value == ANN_OWNS
    assert response.outcome is Outcome.STEP_FAILED
    assert "step_failed" in codes(response)


@EVERY_WAY
def test_one_broken_object_of_three_leaves_the_others(respond: Callable[..., Response]) -> None:
    def script(messages: Any) -> str:
        return "no" if "Two." in "".join(message.content for message in messages) else ANN

    mode = get_response_synthesizer(ScriptedLLM(script), response_mode="accumulate", output_cls=Owner)
    response = respond(mode, QUESTION, passages("One.", "Two.", "Three."))
    assert response.value == [ANN_OWNS, ANN_OWNS]
    assert [item.index for item in response.items if item.error is not None] == [1]
    assert response.outcome is Outcome.STEP_FAILED


@pytest.mark.parametrize("mode", ["refine", "compact", "tree_summarize", "accumulate"])
def test_windows_hold_with_objects_too(mode: str) -> None:
    llm = ScriptedLLM([ANN, "no", ANN, "{}", ANN], context_window=900, num_output=100)
    nodes = long_passages(5, times=8)
    mode_ = get_response_synthesizer(llm, response_mode=mode, output_cls=Owner, use_async=False)
    planned = mode_.plan(QUESTION, nodes)
    response = synthesized(mode_, QUESTION, nodes)
    assert len(response.trace) <= len(planned.calls)
    for prompt, sampling in zip(llm.prompts, llm.samplings, strict=True):
        assert llm.count_prompts([prompt])[0] + (sampling.max_tokens or 0) <= 900


def test_numbers_inside_an_object_are_no_citations() -> None:
    llm = ScriptedLLM('{"name": "Ann", "things": ["[7]"]}')
    response = synthesized(get_response_synthesizer(llm, output_cls=Owner), QUESTION, NODES)
    assert (codes(response), response.citations) == ([], ())


def test_a_mode_of_ones_own_may_return_an_object() -> None:
    from responsa import BaseSynthesizer

    class Fixed(BaseSynthesizer):
        def get_response(self, query_str: str, text_chunks: Any, **response_kwargs: Any) -> Any:
            return ANN_OWNS

    response = synthesized(Fixed(), QUESTION, NODES)
    assert isinstance(response, PydanticResponse)
    assert (response.name, response.text) == ("Ann Lee", ANN_OWNS.model_dump_json())


def test_a_response_with_an_object_can_be_copied_and_pickled() -> None:
    import copy
    import pickle
    from dataclasses import replace

    response = synthesized(get_response_synthesizer(ScriptedLLM(ANN), output_cls=Owner), QUESTION, NODES)
    assert copy.copy(response).name == "Ann Lee"
    assert pickle.loads(pickle.dumps(response)).response == ANN_OWNS
    assert replace(response, warnings=()).response == ANN_OWNS
