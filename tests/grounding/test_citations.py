"""Citations of a whole answer: written by the model or attached by the engine, each with the place it points to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from tests.grounding.answers import ANSWERS, SOURCES, call_showing, citations_of

from responsa.grounding import THRESHOLD, cite
from responsa.packing.passages import passages_of
from responsa.schema.calls import CallRecord
from responsa.schema.citations import Citation
from responsa.schema.response import AnswerItem, Outcome, Response


def numbered(*citations: Citation) -> list[tuple[int, str]]:
    return [(citation.number, citation.origin) for citation in citations]


@given(ANSWERS)
def test_every_citation_points_to_its_sentence_and_to_text_that_stands_there(text: str) -> None:
    for citation in citations_of(text):
        start, end = citation.sentence
        assert 0 <= start < end <= len(text)
        assert text[start:end] == text[start:end].rstrip()
        if citation.known:
            source = SOURCES[citation.number - 1]
            assert citation.node_id == source.node_id
            assert citation.quoted == source.text[slice(*citation.quote)]
            assert 0 <= citation.support <= 1
        if citation.origin == "engine":
            assert citation.known
            assert citation.support >= THRESHOLD


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There can only be one owner [1].", [(1, "model")]),
        ("There can only be one owner. [1]", [(1, "model")]),
        ("There can only be one owner.[1] Penguins swim.", [(1, "model")]),
        ("One owner, constant cost [1, 2].", [(1, "model"), (2, "model")]),
        ("One owner [1] at a time [1].", [(1, "model")]),
        ("所有权是最为与众不同的特性【3】。", [(3, "model")]),
        ("所有权是最为与众不同的特性。【3】企鹅会游泳。", [(3, "model")]),
        ("There can only be one owner at a time.", [(1, "engine")]),
        ("它让 Rust 无需垃圾回收器即可保证内存安全。", [(3, "engine")]),
        ("Penguins live in Antarctica.", []),
        ("企鹅住在南极洲。", []),
        ("Vec::push has amortized O(1) cost. Penguins swim. Each value has an owner.", [(2, "engine"), (1, "engine")]),
        ("Use `v[1]` for penguins.", []),
        ("Penguins:\n```\nlet penguin = v[1];\nlet swim = v[2];\n```\n", []),
        ("So:\n```\nThere can only be one owner at a time.\n```\n", []),
        ("\n```\nThere can only be one owner at a time.", []),
        ("~~~\nThere can only be one owner at a time.\nEach value has an owner. [1]\n~~~\n", []),
        ("```\nlet x;\n```\nThere can only be one owner at a time.", [(1, "engine")]),
        ("About ~~~ here: there can only be one owner at a time.", [(1, "engine")]),
        ("I don't know.", []),
        ("我不知道。", []),
        ("I don't know. [1]", []),
        ("Each value has an owner. I don't know.", [(1, "engine")]),
        ("", []),
        ("  ", []),
    ],
)
def test_the_citations_of_an_answer(text: str, expected: list[tuple[int, str]]) -> None:
    assert numbered(*citations_of(text)) == expected


def test_a_number_that_no_call_showed_is_kept_and_told_apart() -> None:
    (citation,) = citations_of("One owner [9].")
    assert citation == Citation(9, "", "model", (0, 14), known=False)


def test_only_what_a_call_showed_can_be_cited() -> None:
    only_second = call_showing(2)
    (citation,) = citations_of("There can only be one owner [1].", only_second)
    assert not citation.known
    assert citations_of("There can only be one owner at a time.", only_second) == ()
    assert numbered(*citations_of("There can only be one owner at a time.", only_second, call_showing(1))) == [
        (1, "engine")
    ]


def items_of(*texts: str) -> Response:
    """Independent answers, each from one of the sources."""
    items = tuple(AnswerItem(n, text, numbers=(n + 1,)) for n, text in enumerate(texts))
    trace = tuple(CallRecord(n, replace(call_showing(n + 1), item=n)) for n in range(len(texts)))
    joined = "\n---\n".join(f"Response {item.index + 1}: {item.text}" for item in items)
    return Response(joined, SOURCES, items=items, trace=trace)


def test_an_independent_answer_rests_on_its_own_passages_alone() -> None:
    first, second = "Vec::push has amortized O(1) cost.", "Vec::push has amortized O(1) cost. [1]"
    response = items_of(first, second)
    citations = cite(response, passages_of(SOURCES))
    assert [(one.number, one.known) for one in citations] == [(1, False)]
    start, end = citations[0].sentence
    assert response.text[start:end] == second


def test_places_of_independent_answers_are_those_in_the_whole_text() -> None:
    response = items_of("There can only be one owner at a time.", "", "Nothing.")
    (citation,) = cite(response, passages_of(SOURCES))
    assert response.text[slice(*citation.sentence)] == "There can only be one owner at a time."


def test_a_marker_the_model_wrote_stands_even_where_the_passage_does_not_support_it() -> None:
    (citation,) = citations_of("Penguins live in Antarctica [2].")
    assert (citation.number, citation.known) == (2, True)
    assert citation.support < THRESHOLD


def test_a_sentence_of_a_marker_alone_has_no_quote() -> None:
    (citation,) = citations_of("[1]")
    assert (citation.number, citation.quote, citation.quoted, citation.support) == (1, (0, 0), "", 0.0)


@pytest.mark.parametrize(
    "fields", [{"outcome": Outcome.REFUSED}, {"grounded": False}], ids=["refused", "not from the passages"]
)
def test_an_answer_that_rests_on_no_passage_has_no_citations(fields: dict[str, object]) -> None:
    trace = (CallRecord(0, call_showing(1, 2, 3)),)
    response = Response("There can only be one owner at a time.", SOURCES, trace=trace, **fields)
    assert cite(response, passages_of(SOURCES)) == ()
