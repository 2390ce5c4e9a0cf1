"""Citations in a stream: the same as those of the whole answer, as soon as each sentence has ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import example, given
from tests.grounding.answers import (
    SOURCES,
    answers_in_pieces,
    call_showing,
    citations_of,
    events_of,
    found,
    streamed,
)

from responsa.grounding import acited, cited, citing
from responsa.schema.calls import CallRecord, LLMCall
from responsa.schema.events import CitationFound, Done, Event, SourcesFound, StepFinished, StepStarted, TextDelta
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.response import Response
from responsa.schema.spans import Span
from responsa.tokens.sentences import sentences_from


@given(answers_in_pieces())
@example(list("One owner. [1, 2, 3, 9, 12] Then."))
@example(["A line of prose that is wrapped because it is longer than forty columns\n3.", "14 stands there."])
@example(["Use `x. Then [1]. There can only be ", "one owner. More` end."])
@example(["I don't know", ".", " Each value has an owner."])
def test_streamed_citations_are_those_of_the_whole_answer(pieces: list[str]) -> None:
    assert found(streamed(pieces)) == list(citations_of("".join(pieces)))


LONG = {
    "sentences": "There can only be one owner at a time. [1] " * 200,
    "no end": "v1.5 " * 2000,
    "stops": "." * 8000,
    "lines": "One owner" + "\n" * 8000,
    "code": "```\n" + "There can only be one owner at a time.\n" * 200,
    "markers": "So it is" + "[1]" * 2000 + ". Then.",
    "open marker": "So it is. [" + "1, " * 3000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_answer_is_read_in_proportion_to_its_length(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(whole: str, start: int = 0, *place: int) -> Iterator[tuple[int, int, int]]:
        read.append(len(whole) - start)
        return sentences_from(whole, start, *place)

    monkeypatch.setattr(citing, "sentences_from", counted)
    told = found(streamed(list(text)))
    assert sum(read) < 120 * len(text)
    assert told == list(citations_of(text))


def test_other_tasks_have_their_turn_while_many_passages_are_read() -> None:
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def read() -> list[int]:
        sources = [NodeWithScore(TextNode("It has an owner. " * 100, id_=f"m{n}")) for n in range(20)]
        spans = tuple(Span(n, f"m{n - 1}", 0, 1700, whole=True) for n in range(1, 21))

        async def events() -> AsyncIterator[Event]:
            yield SourcesFound(tuple(sources))
            for event in events_of(["It has an owner. And that is all of it."], LLMCall("answer", (), spans=spans)):
                yield event

        other = asyncio.create_task(count())
        passed = [turns async for _ in acited(events())]
        other.cancel()
        return passed

    assert max(asyncio.run(read())) >= 20 * 100 // 16


@given(answers_in_pieces())
def test_a_streamed_response_has_the_citations_of_the_whole_answer(pieces: list[str]) -> None:
    text, call = "".join(pieces), call_showing(1, 3)
    response = Response(text, SOURCES, trace=(CallRecord(0, call),), cite=lambda _: ())

    def events() -> Iterator[Event]:
        yield SourcesFound(tuple(SOURCES))
        yield from events_of(pieces, call)
        yield Done(response)

    list(cited(events()))
    assert response.citations == citations_of(text, call)


def test_a_response_that_rests_on_other_calls_works_out_its_own_citations() -> None:
    own = citations_of("So it is [1].")
    response = Response("So it is [1].", SOURCES, trace=(CallRecord(0, call_showing(2)),), cite=lambda _: own)

    def events() -> Iterator[Event]:
        yield SourcesFound(tuple(SOURCES))
        yield from events_of(["So it is [1]."], call_showing(1))
        yield Done(response)

    list(cited(events()))
    assert response.citations == own


@given(answers_in_pieces())
def test_the_events_themselves_pass_unchanged_and_citations_come_before_the_calls_end(pieces: list[str]) -> None:
    told = streamed(pieces)
    plain = [SourcesFound(tuple(SOURCES)), *events_of(pieces, call_showing(1, 2, 3))]
    assert [event for event in told if not isinstance(event, CitationFound)] == plain
    assert isinstance(told[-1], StepFinished)


@given(answers_in_pieces())
def test_the_async_stream_tells_the_same(pieces: list[str]) -> None:
    async def events() -> AsyncIterator[Event]:
        yield SourcesFound(tuple(SOURCES))
        for event in events_of(pieces, call_showing(1, 2, 3)):
            yield event

    async def read() -> list[Event]:
        return [event async for event in acited(events())]

    assert asyncio.run(read()) == streamed(pieces)


def test_a_citation_comes_soon_after_its_sentence() -> None:
    text = "There can only be one owner at a time. [1] Vec::push has amortized O(1) cost. Penguins swim."
    told = streamed(list(text))
    first = next(n for n, event in enumerate(told) if isinstance(event, CitationFound))
    shown = "".join(event.text for event in told[:first] if isinstance(event, TextDelta))
    assert shown == text[: text.index("Vec::pus") + 8]


def test_citations_of_a_draft_are_marked_and_each_call_starts_anew() -> None:
    sentence = "Vec::push has amortized O(1) cost."

    def events() -> Iterator[Event]:
        yield SourcesFound(tuple(SOURCES))
        yield from events_of([sentence], call_showing(1, draft=True), 0)
        yield from events_of(["Now: ", sentence], call_showing(2), 1)

    citations = [event for event in cited(events()) if isinstance(event, CitationFound)]
    assert [(one.number, one.provisional, one.citation.number) for one in citations] == [(1, False, 2)]
    assert found(streamed([sentence], call_showing(2, draft=True))) == list(citations_of(sentence))


def test_a_refusal_has_no_citation_even_where_a_passage_holds_its_words() -> None:
    knowing = NodeWithScore(TextNode("What you should know. 我不知道它。", id_="n1"))

    def events(text: str) -> Iterator[Event]:
        yield SourcesFound((knowing,))
        yield from events_of([text], call_showing(1))

    assert [found(cited(events(text))) for text in ("I don't know.", "我不知道。")] == [[], []]
    assert len(found(cited(events("You should know.")))) == 1


def test_closing_closes_what_is_watched() -> None:
    closed: list[str] = []

    def events() -> Iterator[Event]:
        try:
            yield StepStarted(0, call_showing(1))
            yield TextDelta("a", 0)
        finally:
            closed.append("blocking")

    async def aevents() -> AsyncIterator[Event]:
        try:
            yield StepStarted(0, call_showing(1))
            yield TextDelta("a", 0)
        finally:
            closed.append("async")

    async def read() -> None:
        watched = acited(aevents())
        await anext(watched)
        await watched.aclose()

    watched = cited(events())
    next(watched)
    watched.close()
    asyncio.run(read())
    assert closed == ["blocking", "async"]


def test_text_that_belongs_to_no_call_has_no_citations() -> None:
    told = [SourcesFound(tuple(SOURCES)), TextDelta("There can only be one owner at a time.", 0)]
    assert list(cited(event for event in told)) == told
