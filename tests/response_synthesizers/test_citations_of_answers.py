"""Citations of real answers: in the response and in the stream, tied to the places they rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from tests.grounding.answers import CHINESE, SOURCES, answers_in_pieces
from tests.response_synthesizers.scenes import QUESTION, aevents, events, passages, synthesized

from responsa.response_synthesizers import Accumulate, CompactAndRefine, Refine
from responsa.schema.completions import Delta, Finish
from responsa.schema.events import CitationFound, Done
from responsa.testing import ScriptedLLM

BOTH = pytest.mark.parametrize("told_by", [events, aevents], ids=["blocking", "async"])


class PiecesLLM(ScriptedLLM):
    """A model whose answer comes in the pieces it is told."""

    def __init__(self, pieces: Sequence[str]) -> None:
        super().__init__()
        self.pieces = pieces

    def stream(self, messages, sampling):
        yield from map(Delta, self.pieces)
        yield Finish("stop")

    async def astream(self, messages, sampling):
        for item in self.stream(messages, sampling):
            yield item


@BOTH
@given(pieces=answers_in_pieces())
def test_the_citations_of_a_stream_are_those_of_its_response(told_by: Callable[..., Any], pieces: list[str]) -> None:
    told = told_by(CompactAndRefine(PiecesLLM([" \n", *pieces, "\n"])), QUESTION, SOURCES)
    found = [event.citation for event in told if isinstance(event, CitationFound)]
    assert isinstance(told[-1], Done)
    response = told[-1].response
    assert tuple(found) == response.citations
    for citation in response.citations:
        assert citation.sentence[1] <= len(response.text)
        if citation.known:
            assert citation.quoted == SOURCES[citation.number - 1].text[slice(*citation.quote)]


@BOTH
def test_citations_of_drafts_are_provisional_and_those_of_the_last_call_final(told_by: Callable[..., Any]) -> None:
    llm = ScriptedLLM(["Each value has an owner [1].", "In 2015 it was released [2]. There can be one owner [1]."])
    told = told_by(Refine(llm), QUESTION, SOURCES[:2])
    found = [event for event in told if isinstance(event, CitationFound)]
    assert [(event.number, event.provisional) for event in found] == [(0, True), (1, False), (1, False)]
    assert tuple(event.citation for event in found if not event.provisional) == told[-1].response.citations


@pytest.mark.parametrize(
    ("answer", "number", "quoted"),
    [
        ("Mozilla released version 1.0 in 2015.", 2, "In 2015 version 1.0 was released by Mozilla"),
        ("Rust 无需垃圾回收器就保证了内存安全。", 3, "它让 Rust 无需垃圾回收器即可保证内存安全。"),
    ],
)
def test_an_answer_without_markers_is_tied_to_its_place_by_the_engine(answer: str, number: int, quoted: str) -> None:
    response = synthesized(CompactAndRefine(ScriptedLLM(answer)), QUESTION, SOURCES)
    (citation,) = response.citations
    assert (citation.number, citation.origin, citation.node_id) == (number, "engine", f"n{number}")
    assert quoted in citation.quoted
    assert citation.quoted == SOURCES[number - 1].text[slice(*citation.quote)]


def test_an_invented_sentence_and_a_refusal_have_none() -> None:
    for answer in ("Penguins live in Antarctica.", "企鹅住在南极洲。", "I don't know.", "我不知道。[1]"):
        assert synthesized(CompactAndRefine(ScriptedLLM(answer)), QUESTION, SOURCES).citations == ()


def test_numbers_are_those_of_the_sources_also_where_some_had_no_text() -> None:
    nodes = passages("", CHINESE, "  ", "Vec::push has amortized O(1) cost.")
    response = synthesized(CompactAndRefine(ScriptedLLM("Vec::push costs amortized O(1). 好 [2]。")), QUESTION, nodes)
    assert [(one.number, one.node_id) for one in response.citations] == [(4, "n4"), (2, "n2")]


@BOTH
def test_an_answer_of_several_is_not_tied_to_what_another_call_showed(told_by: Callable[..., Any]) -> None:
    answers = ["Vec::push has amortized O(1) cost.", "Vec::push has amortized O(1) cost. So it is [1]."]
    told = told_by(Accumulate(ScriptedLLM(answers), use_async=False), QUESTION, SOURCES[:2])
    found = [event for event in told if isinstance(event, CitationFound)]
    assert [(one.number, one.citation.number, one.citation.known) for one in found] == [(1, 2, True), (1, 1, False)]
    response = told[-1].response
    assert [(one.number, one.known) for one in response.citations] == [(2, True), (1, False)]
    assert [response.text[slice(*one.sentence)] for one in response.citations] == [answers[1][:34], answers[1][35:]]
    assert [notice.details for notice in response.warnings if notice.code == "unknown_citation"] == [{"numbers": "[1]"}]


def test_a_cited_number_that_was_retrieved_but_never_shown_is_unknown() -> None:
    shown, listed = SOURCES[:2]
    response = synthesized(CompactAndRefine(ScriptedLLM("So it is [2].")), QUESTION, [shown], [listed])
    assert [(one.number, one.known) for one in response.citations] == [(2, False)]
    assert [notice.details for notice in response.warnings if notice.code == "unknown_citation"] == [{"numbers": "[2]"}]
