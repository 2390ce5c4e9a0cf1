"""Plans print as a table; coverage counts every character of a source once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.plans import Plan, PlannedCall, Shown, SourceCoverage, coverage_of
from responsa.schema.spans import Span

LENGTH = 30


@given(st.lists(st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).map(sorted), max_size=6))
def test_overlapping_spans_count_once(ranges: list[list[int]]) -> None:
    source = NodeWithScore(TextNode("x" * LENGTH, id_="a"))
    spans = [Span(1, "a", start, end, whole=False) for start, end in ranges]
    seen = {place for start, end in ranges for place in range(start, end)}
    (row,) = coverage_of([source], spans)
    assert row.characters == len(seen)
    assert row.shown == (Shown.NOT if not seen else Shown.WHOLE if len(seen) == LENGTH else Shown.CUT)


def test_coverage_tells_whole_cut_and_not_by_the_sources_numbers() -> None:
    sources = [NodeWithScore(TextNode("x" * 10, id_=name)) for name in "abc"]
    spans = [Span(1, "a", 0, 10, whole=True), Span(3, "c", 2, 5, whole=False)]
    assert coverage_of(sources, spans) == (
        SourceCoverage(1, "a", Shown.WHOLE, 10, 10),
        SourceCoverage(2, "b", Shown.NOT, 0, 10),
        SourceCoverage(3, "c", Shown.CUT, 3, 10),
    )


def test_a_plan_adds_up_and_prints_as_a_table() -> None:
    span = Span(2, "b", 0, 5, whole=True)
    plan = Plan((PlannedCall("answer", 900, 256, (span, span)), PlannedCall("refine", 1100, 256, ())))
    assert plan.by_stage == {"answer": 1, "refine": 1}
    assert (plan.prompt_tokens, plan.max_tokens) == (2000, 512)
    assert plan.calls[0].passages == (2,)
    lines = str(plan).splitlines()
    assert lines[1].split() == ["1", "answer", "900", "256", "2"]
    assert lines[-1] == "2 calls, 2000 prompt tokens, 512 to write"


def test_a_plan_that_is_not_exact_says_so_and_names_its_open_steps() -> None:
    assert str(Plan((), exact=False, open_steps=("Mine",))).splitlines()[1:] == [
        "at most 0 calls, 0 prompt tokens, 0 to write",
        "the cost of Mine is not known",
    ]
