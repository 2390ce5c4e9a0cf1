"""Every way to ask gives the same response for the same completions, and a journal gives it without a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packing.texts import sources
from tests.response_synthesizers.scenes import (
    QUESTION,
    RESPONDING,
    aevents,
    astreamed,
    events,
    passages,
    streamed,
    synthesized,
)

from responsa.programs import Journal, replay
from responsa.response_synthesizers import CompactAndRefine, Refine
from responsa.schema.nodes import NodeWithScore
from responsa.schema.response import Response
from responsa.testing import ScriptedLLM

ANSWERS = st.lists(
    st.sampled_from(["An owner [1].", "", "I don't know.", "一个所有者【2】。", "long " * 200, " Two\n"]),
    min_size=1,
    max_size=5,
)
MODES = st.sampled_from([Refine, CompactAndRefine])


def comparable(response: Response) -> Response:
    return replace(response, cite=None)


@given(sources(max_size=4), ANSWERS, MODES)
def test_all_ways_to_ask_give_the_same_response(
    nodes: list[NodeWithScore], answers: list[str], mode: type[Refine]
) -> None:
    def llm() -> ScriptedLLM:
        return ScriptedLLM(answers, context_window=600, num_output=100)

    first = synthesized(mode(llm()), QUESTION, nodes)
    for respond in RESPONDING.values():
        other = respond(mode(llm()), QUESTION, nodes)
        assert comparable(other) == comparable(first)
        assert other.citations == first.citations
    for stream_it in (streamed, astreamed):
        pieces, other = stream_it(mode(llm(), streaming=True), QUESTION, nodes)
        assert comparable(other) == comparable(first)
        assert "".join(pieces).strip() == str(first)


@given(sources(max_size=4), ANSWERS, MODES)
def test_both_event_streams_tell_the_same(nodes: list[NodeWithScore], answers: list[str], mode: type[Refine]) -> None:
    told = [
        told_by(mode(ScriptedLLM(answers, context_window=600, num_output=100)), QUESTION, nodes)
        for told_by in (events, aevents)
    ]
    assert told[0][:-1] == told[1][:-1]
    assert comparable(told[0][-1].response) == comparable(told[1][-1].response)


@pytest.mark.parametrize("respond", RESPONDING.values(), ids=RESPONDING)
@pytest.mark.parametrize("cut", [0, 1, 200])
def test_a_run_is_resumed_from_its_journal_after_a_crash_and_replayed_without_a_model(
    respond: Callable[..., Response], cut: int, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    answers = [f"Answer {number} [1]." for number in range(4)]
    nodes = passages("One.", "Two.", "Three.", "Four.")
    whole = comparable(respond(Refine(Journal(path).over(ScriptedLLM(answers))), QUESTION, nodes))
    written = path.read_bytes()
    path.write_bytes(written[: len(written) - cut])

    asked = ScriptedLLM(answers[-1])
    assert comparable(respond(Refine(Journal(path).over(asked)), QUESTION, nodes)) == whole
    assert len(asked.prompts) == (cut > len("\n"))
    assert comparable(replay(Refine().respond(QUESTION, nodes), Journal(path))) == whole
