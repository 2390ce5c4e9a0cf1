"""Passages and answers about them, for tests of citations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hypothesis import strategies as st

from responsa.grounding import cite, cited
from responsa.packing.passages import passages_of
from responsa.schema.calls import CallRecord, LLMCall
from responsa.schema.citations import Citation
from responsa.schema.completions import Completion
from responsa.schema.events import CitationFound, Event, SourcesFound, StepFinished, StepStarted, TextDelta
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.schema.response import Response
from responsa.schema.spans import Span

OWNERSHIP = (
    "Each value in Rust has an owner. There can only be one owner at a time. "
    "When the owner goes out of scope, the value will be dropped."
)
SPEED = "Vec::push has amortized O(1) cost. In 2015 version 1.0 was released by Mozilla with 1,400 contributors."
CHINESE = "所有权是 Rust 最为与众不同的特性。它让 Rust 无需垃圾回收器即可保证内存安全。1.0 版本发布于 2015 年。"
SOURCES = [NodeWithScore(TextNode(text, id_=f"n{n}")) for n, text in enumerate((OWNERSHIP, SPEED, CHINESE), 1)]

SENTENCES = [
    "When the owner goes out of scope, the value will be dropped [1].",
    "There can only be one owner at a time.[1]",
    "There can only be one owner at a time. [1, 2]",
    "There can only be one owner. [1][2] 【3】",
    "Each value has an owner [1, 2, 3, 9, 12].",
    "It is so. [1, 2, 3, 9, 12]",
    "Vec::push has amortized O(1) cost.",
    "In 2015 version 1.0 was released by Mozilla.",
    "Penguins live in Antarctica.",
    "所有权是 Rust 最为与众不同的特性【3】。",
    "它让 Rust 无需垃圾回收器。[3]",
    "它保证内存安全。",
    "I don't know.",
    "我不知道。",
    "Write `a[1]` or `v[0].x` there.",
    "```rust\nlet x = v[1];\nlet y = v[2];\n```",
    "```\nThere can only be one owner at a time.\n```",
    "~~~\nVec::push has amortized O(1) cost.\n~~~",
    "A stray ` tick and [2] after it.",
    "- one owner at a time [1]\n- amortized cost [2]",
    "1. Each value has an owner.\n2. It is dropped.",
    "A line of prose that is wrapped because it is longer than forty columns\n3.14 stands on the next one.",
    "A line of prose that is wrapped because it is longer than forty columns\n- and then an item [2].",
    "He said “one owner.” Then e.g. Mozilla left.",
    "See [1](http://example.org) and [a].",
    "## Heading",
    "Really?!",
    "真的吗？！",
]
ANSWERS = st.lists(
    st.tuples(st.sampled_from(SENTENCES), st.sampled_from([" ", "", "\n", "\n\n", "  "])), min_size=1, max_size=6
).map(lambda pairs: "".join(sentence + gap for sentence, gap in pairs).strip())


@st.composite
def answers_in_pieces(draw: st.DrawFn) -> list[str]:
    """An answer cut anywhere."""
    text = draw(ANSWERS)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=30)))
    return [piece for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True) if (piece := text[a:b])]


def call_showing(*numbers: int, draft: bool = False) -> LLMCall:
    """A call that shows these of the sources whole."""
    spans = [Span(n, f"n{n}", 0, len(SOURCES[n - 1].text), whole=True) for n in numbers]
    return LLMCall("answer", (), spans=tuple(spans), draft=draft)


def citations_of(text: str, *calls: LLMCall) -> tuple[Citation, ...]:
    """The citations of a whole answer that these calls gave; one call that shows all sources if none is given."""
    trace = tuple(CallRecord(n, call) for n, call in enumerate(calls or (call_showing(1, 2, 3),)))
    return cite(Response(text, SOURCES, trace=trace), passages_of(SOURCES))


def events_of(pieces: Iterable[str], call: LLMCall, number: int = 0) -> Iterator[Event]:
    """The events of one call whose answer comes in `pieces`."""
    yield StepStarted(number, call)
    for piece in pieces:
        yield TextDelta(piece, number, call.draft)
    yield StepFinished(number, call.stage, Completion("".join(pieces)))


def streamed(pieces: Sequence[str], call: LLMCall | None = None) -> list[Event]:
    """What a listener is told of an answer in pieces, citations included."""

    def events() -> Iterator[Event]:
        yield SourcesFound(tuple(SOURCES))
        yield from events_of(pieces, call or call_showing(1, 2, 3))

    return list(cited(events()))


def found(events: Iterable[Event]) -> list[Citation]:
    return [event.citation for event in events if isinstance(event, CitationFound)]
