"""The text interface of a stream: only what is final, in pieces; closing it closes the request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.response_synthesizers.scenes import QUESTION, BreakingLLM, astreamed, passages, streamed, synthesized

from responsa.response_synthesizers import CompactAndRefine, Refine
from responsa.schema.errors import RateLimited, StreamInterrupted
from responsa.schema.response import Outcome, Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse
from responsa.testing import ScriptedLLM

BOTH = pytest.mark.parametrize("stream_it", [streamed, astreamed], ids=["blocking", "async"])
THREE = passages("Passage one.", "Passage two.", "Passage three.")
LONG = "one two three four five six seven eight"


def begun(llm: ScriptedLLM, mode: type[Refine] = CompactAndRefine) -> StreamingResponse:
    streaming = mode(llm, streaming=True).synthesize(QUESTION, THREE)
    assert isinstance(streaming, StreamingResponse)
    return streaming


async def abegun(llm: ScriptedLLM) -> AsyncStreamingResponse:
    streaming = await CompactAndRefine(llm, streaming=True).asynthesize(QUESTION, THREE)
    assert isinstance(streaming, AsyncStreamingResponse)
    return streaming


@BOTH
@pytest.mark.parametrize(
    ("answers", "text"),
    [
        (["One.", "Two.", "The third answer."], "The third answer."),
        (["One.", "Two.", "I don't know."], "Two."),
        (["One.", "I don't know.", "  \n"], "One."),
        (["I don't know.", "I don't know.", "Three it is."], "Three it is."),
        (["I don't know."], "I don't know."),
        (["One.", "Two.", "I don't know everything, but three."], "I don't know everything, but three."),
        (["One.", "Two.", "\n\n Three. \n"], "Three."),
        (["One.", RateLimited("u")], "One."),
    ],
)
def test_the_pieces_are_the_final_answer_and_no_draft(
    stream_it: Callable[..., Any], answers: list[Any], text: str
) -> None:
    pieces, response = stream_it(Refine(ScriptedLLM(answers), streaming=True), QUESTION, THREE)
    assert "".join(pieces).strip() == response.text == text
    assert response.text == synthesized(Refine(ScriptedLLM(answers)), QUESTION, THREE).text


@BOTH
def test_a_final_answer_comes_in_pieces_as_the_model_gives_them(stream_it: Callable[..., Any]) -> None:
    pieces, response = stream_it(CompactAndRefine(ScriptedLLM(LONG), streaming=True), QUESTION, THREE)
    assert len(pieces) > 10
    assert "".join(pieces) == response.text == LONG
    assert response.source_nodes == THREE


@BOTH
def test_a_stream_that_fails_after_text_was_given_raises(stream_it: Callable[..., Any]) -> None:
    breaking = BreakingLLM(["One.", "One two.", "Three it is."], call=3, after=3)
    with pytest.raises(StreamInterrupted) as error:
        stream_it(Refine(breaking, streaming=True), QUESTION, THREE)
    assert error.value.text_so_far == "Three it"


def test_what_failed_once_fails_again_and_what_was_read_stays() -> None:
    streaming = begun(BreakingLLM(LONG, call=1, after=3))
    for _ in range(2):
        with pytest.raises(StreamInterrupted):
            streaming.get_response()
    with pytest.raises(StreamInterrupted):
        list(streaming.response_gen)
    assert streaming.response_txt == "one two"


def test_what_failed_once_fails_again_without_blocking_too() -> None:
    async def read() -> None:
        streaming = await abegun(BreakingLLM(LONG, call=1, after=3))
        for _ in range(2):
            with pytest.raises(StreamInterrupted):
                await streaming.get_response()
        assert streaming.response_txt == str(streaming) == "one two"

    asyncio.run(read())


@BOTH
def test_without_passages_the_only_piece_is_the_sentence_that_says_so(stream_it: Callable[..., Any]) -> None:
    pieces, response = stream_it(CompactAndRefine(ScriptedLLM(), streaming=True), QUESTION, [])
    assert pieces == [str(response)] == ["Nothing was found in the documents for this question."]
    assert (response.text, response.outcome) == ("", Outcome.NO_SOURCES)


def test_nothing_is_asked_before_the_stream_is_read() -> None:
    llm = ScriptedLLM(LONG)
    streaming = begun(llm)
    assert llm.prompts == []
    assert str(streaming) == LONG
    assert len(llm.prompts) == 1


def test_str_before_during_and_after_reading_is_the_whole_answer() -> None:
    assert str(begun(ScriptedLLM(LONG))) == LONG
    streaming = begun(ScriptedLLM(LONG))
    reading = streaming.response_gen
    assert [next(reading), next(reading)] == ["one", " "]
    assert streaming.response_txt == "one "
    assert str(streaming) == streaming.response_txt == LONG
    assert list(streaming.response_gen) == list(begun(ScriptedLLM(LONG)).response_gen)
    response = streaming.get_response()
    assert isinstance(response, Response)
    assert [record.call.stage for record in response.trace] == ["answer"]


@pytest.mark.parametrize("how", ["response", "reader"])
def test_closing_cancels_the_request_and_keeps_what_was_read(how: str) -> None:
    llm = ScriptedLLM(LONG)
    streaming = begun(llm)
    reading = streaming.response_gen
    next(reading)
    (streaming if how == "response" else reading).close()
    assert (llm.under_way, llm.closed) == (0, 1)
    assert str(streaming) == "one"
    assert streaming.source_nodes == THREE
    assert streaming.get_response().outcome is Outcome.INTERRUPTED


@pytest.mark.parametrize("how", ["response", "reader"])
def test_closing_the_async_response_cancels_the_request_and_leaves_no_task(how: str) -> None:
    async def read() -> None:
        llm = ScriptedLLM(LONG)
        streaming = await abegun(llm)
        reading = streaming.response_gen
        assert await anext(reading) == "one"
        await (streaming if how == "response" else reading).aclose()
        assert (llm.under_way, llm.closed) == (0, 1)
        assert streaming.response_txt == "one"
        response = await streaming.get_response()
        assert (response.text, response.outcome) == ("one", Outcome.INTERRUPTED)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        await reading.aclose()

    asyncio.run(read())


def test_closing_a_stream_in_the_middle_of_a_draft_asks_no_more() -> None:
    llm = ScriptedLLM(LONG)
    told = Refine(llm).stream_events(QUESTION, THREE)
    for event in told:
        if event.type == "text_delta":
            break
    told.close()
    assert (len(llm.prompts), llm.under_way, llm.closed) == (1, 0, 1)


def test_get_response_streams_bare_texts_in_the_same_way() -> None:
    mode = CompactAndRefine(ScriptedLLM(LONG), streaming=True)
    assert "".join(mode.get_response(QUESTION, ["Passage one."])) == LONG

    async def read() -> str:
        return "".join([piece async for piece in await mode.aget_response(QUESTION, ["Passage one."])])

    assert asyncio.run(read()) == LONG
