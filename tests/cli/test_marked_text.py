"""Attached citations stand in the same places however the text arrives."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.cli.marked_text import MarkedText, Piece, marked
from responsa.response_synthesizers import CompactAndRefine
from responsa.schema.citations import Citation
from responsa.schema.completions import Delta, Finish, Sampling, StreamItem
from responsa.schema.events import CitationFound, Done, TextDelta
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import NodeWithScore, TextNode
from responsa.testing import ScriptedLLM

PASSAGES = [
    NodeWithScore(TextNode("A member can borrow up to eight books. The loan lasts 3.5 weeks.")),
    NodeWithScore(TextNode("会员最多可以借八本书。借期为三周。")),
]
ANSWERS = [
    "A member can borrow up to eight books. The loan lasts 3.5 weeks.",
    "A member can borrow up to eight books.\n\nThe loan lasts 3.5 weeks.\n",
    "- A member can borrow up to eight books\n- The loan lasts 3.5 weeks\n\nThat is all.",
    'It says: "A member can borrow up to eight books." The loan lasts 3.5 weeks. [1] So it is.',
    "会员最多可以借八本书。借期为三周。此外没有。",
    "1. 会员最多可以借八本书。\n2. 借期为三周。",
]


class CutLLM(ScriptedLLM):
    """Gives its answer in pieces cut at chosen places."""

    def __init__(self, answer: str, cuts: Sequence[int]) -> None:
        super().__init__(answer)
        places = [0, *sorted({cut % (len(answer) + 1) for cut in cuts}), len(answer)]
        self._pieces = [answer[start:end] for start, end in pairwise(places) if start < end]

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        for piece in self._pieces:
            yield Delta(piece)
        yield Finish("stop")


def shown(answer: str, cuts: Sequence[int]) -> tuple[str, str]:
    """Return what is shown of an answer as it comes, and of the same answer when it is whole."""
    text, pieces, whole = MarkedText(), list[Piece](), ""
    for event in CompactAndRefine(CutLLM(answer, cuts)).stream_events("How many books?", PASSAGES):
        match event:
            case TextDelta(delta):
                pieces += text.feed(delta)
            case CitationFound(citation):
                pieces += text.cite(citation)
            case Done(response):
                whole = "".join(piece.text for piece in marked(response.text, response.citations))
    pieces += text.finish()
    return "".join(piece.text for piece in pieces).strip(), whole


@pytest.mark.parametrize("answer", ANSWERS)
@given(cuts=st.lists(st.integers(0, 1000), max_size=60))
def test_a_streamed_answer_reads_like_the_whole_one(answer: str, cuts: list[int]) -> None:
    streamed, whole = shown(answer, cuts)
    assert streamed == whole
    assert "*]" in whole


@given(pieces=st.lists(st.text(alphabet="ab .。\n[1]", max_size=5), max_size=30))
def test_no_character_is_lost_or_doubled(pieces: list[str]) -> None:
    text = MarkedText()
    shown = [piece.text for given in pieces for piece in text.feed(given)]
    shown += [piece.text for piece in text.finish()]
    assert "".join(shown) == "".join(pieces)


def test_text_is_shown_at_once_except_for_some_characters_after_a_sentence_end() -> None:
    text = MarkedText()
    assert [piece.text for piece in text.feed("Eight bo")] == ["Eight bo"]
    assert [piece.text for piece in text.feed("oks. It")] == ["oks."]
    assert [piece.text for piece in text.feed(" is so wherever")] == []
    assert [piece.text for piece in text.feed(" you are")] == [" It is so wherever you are"]


def test_a_marker_that_comes_late_stands_where_the_text_is() -> None:
    text = MarkedText()
    assert [piece.text for piece in text.feed("Eight books and so on")] == ["Eight books and so on"]
    late = Citation(1, "n", "engine", (0, 5))
    assert [(piece.text, piece.is_marker) for piece in text.cite(late)] == [(" [1*]", True)]


def test_no_marker_is_put_into_code() -> None:
    code = "Run this command:\n\n```console\n$ rustup self uninstall\n```\nThen it is gone."
    ends = [code.index(part) + len(part) for part in ("command:", "```console", "uninstall", "gone.")]
    citations = [Citation(1, "n", "engine", (0, end)) for end in ends]
    shown = "".join(piece.text for piece in marked(code, citations))
    assert shown == code.replace("command:", "command: [1*]") + " [1*]"
