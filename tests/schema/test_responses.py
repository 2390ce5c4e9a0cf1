"""The response's familiar surface: its text, its sources, its stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator

import pytest

from responsa.schema.calls import CallRecord, LLMCall
from responsa.schema.completions import Completion, Usage
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.response import Response
from responsa.schema.streaming_response import AsyncStreamingResponse, StreamingResponse

SOURCES = [NodeWithScore(TextNode("word " * 60, id_="n1", metadata={"title": "T"}))]


class Pieces:
    """Three pieces and a response, and whether the source of them was closed."""

    def __init__(self) -> None:
        self.given = 0
        self.closed = False

    def __call__(self) -> Generator[str, None, Response]:
        try:
            for piece in ("a", "b", "c"):
                self.given += 1
                yield piece
        finally:
            self.closed = True
        return Response("abc", SOURCES)

    async def again(self) -> AsyncGenerator[str | Response, None]:
        try:
            for piece in ("a", "b", "c"):
                self.given += 1
                yield piece
        finally:
            self.closed = True
        yield Response("abc", SOURCES)


def test_a_formatted_source_names_its_node_and_is_no_longer_than_asked() -> None:
    shown = Response("x", SOURCES).get_formatted_sources(length=20)
    assert shown.startswith("> Source (Doc id: n1): word")
    assert len(shown) <= len("> Source (Doc id: n1): ") + 20
    assert StreamingResponse(Pieces()(), SOURCES).get_formatted_sources(20) == shown
    assert AsyncStreamingResponse(Pieces().again(), SOURCES).get_formatted_sources(20) == shown


def test_a_long_text_without_blanks_is_shown_by_its_beginning() -> None:
    chinese = [NodeWithScore(TextNode("会员最多可以借八本书。" * 20, id_="n1"))]
    assert Response("x", chinese).get_formatted_sources(length=10) == "> Source (Doc id: n1): 会员最多可以借..."


def test_an_empty_answer_prints_its_placeholder_and_stays_empty() -> None:
    response = Response("", placeholder="Nothing found.")
    assert (str(response), response.text) == ("Nothing found.", "")
    assert (str(Response(None)), Response(None).text) == ("", "")


def test_usage_adds_up_over_the_calls_that_answered() -> None:
    call = LLMCall("answer", ())
    trace = (
        CallRecord(0, call, Completion("a", usage=Usage(10, 2, 5))),
        CallRecord(1, call, error=ValueError("x")),
        CallRecord(2, call, Completion("b", "because", usage=Usage(7, None, None))),
    )
    response = Response("b", trace=trace)
    assert response.usage == Usage(17, 2, 5)
    assert response.reasoning == "because"


def test_citations_are_worked_out_once_and_when_first_read() -> None:
    calls: list[Response] = []
    response = Response("a", cite=lambda response: (calls.append(response), ())[1])
    assert calls == []
    assert response.citations == response.citations == ()
    assert calls == [response]


def test_reading_a_stream_gives_its_pieces_and_then_the_response() -> None:
    streaming = StreamingResponse(Pieces()(), SOURCES)
    assert list(streaming.response_gen) == ["a", "b", "c"]
    assert streaming.response_txt == str(streaming) == "abc"
    assert streaming.get_response().source_nodes == SOURCES
    assert list(streaming.response_gen) == ["a", "b", "c"]
    assert streaming.metadata == {"n1": {"title": "T"}}


def test_str_reads_a_stream_that_was_not_read() -> None:
    streaming = StreamingResponse(Pieces()(), SOURCES)
    assert streaming.response_txt == ""
    assert str(streaming) == "abc"


def test_reading_goes_on_where_it_stopped() -> None:
    streaming = StreamingResponse(Pieces()(), SOURCES)
    reading = streaming.response_gen
    assert next(reading) == "a"
    assert streaming.response_txt == "a"
    assert str(streaming) == "abc"


def test_printing_prints_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    StreamingResponse(Pieces()(), SOURCES).print_response_stream()
    asyncio.run(AsyncStreamingResponse(Pieces().again(), SOURCES).print_response_stream())
    assert capsys.readouterr().out == "abcabc"


@pytest.mark.parametrize("how", ["close the reader", "close the response"])
def test_closing_stops_the_source_and_keeps_what_was_read(how: str) -> None:
    pieces = Pieces()
    streaming = StreamingResponse(pieces(), SOURCES)
    reading = streaming.response_gen
    next(reading)
    if how == "close the reader":
        reading.close()
    else:
        streaming.close()
    assert (pieces.given, pieces.closed) == (1, True)
    assert str(streaming) == "a"
    assert streaming.get_response().source_nodes == SOURCES


def test_the_async_stream_reads_in_the_same_ways() -> None:
    async def read() -> None:
        streaming = AsyncStreamingResponse(Pieces().again(), SOURCES)
        assert [piece async for piece in streaming.response_gen] == ["a", "b", "c"]
        assert streaming.response_txt == (await streaming.get_response()).text == "abc"
        assert [piece async for piece in streaming.async_response_gen()] == ["a", "b", "c"]
        assert streaming.metadata == {"n1": {"title": "T"}}

        half_read = AsyncStreamingResponse(Pieces().again(), SOURCES)
        reading = half_read.response_gen
        assert await anext(reading) == "a"
        assert (await half_read.get_response()).text == "abc"
        await reading.aclose()

    asyncio.run(read())


@pytest.mark.parametrize("how", ["close the reader", "close the response"])
def test_closing_the_async_stream_stops_the_source_and_keeps_what_was_read(how: str) -> None:
    async def read() -> None:
        pieces = Pieces()
        streaming = AsyncStreamingResponse(pieces.again(), SOURCES)
        reading = streaming.response_gen
        await anext(reading)
        await (reading.aclose() if how == "close the reader" else streaming.aclose())
        assert (pieces.given, pieces.closed) == (1, True)
        assert (await streaming.get_response()).text == "a"
        await reading.aclose()

    asyncio.run(read())
