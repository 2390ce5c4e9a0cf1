"""Reasoning between markers: taken out wherever it stands, cut anywhere; a text without markers is a text."""

from __future__ import annotations

import pytest

from responsa.programs import astream, run, stream
from responsa.programs.effects import Program, ask
from responsa.programs.marked_reasoning import MarkedReasoning
from responsa.prompts import REASONING_END, REASONING_START, think_first
from responsa.schema.calls import LLMCall
from responsa.schema.completions import Completion
from responsa.schema.events import Event, ReasoningDelta, TextDelta
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM

# What the model writes, its text, its reasoning.
CASES = [
    ("An answer.", "An answer.", ""),
    ("<reasoning>Well.</reasoning>An answer.", "An answer.", "Well."),
    ("\n <reasoning>Well.</reasoning>\n\nAn answer.", "\n \n\nAn answer.", "Well."),
    ("Sure. <reasoning>Well.</reasoning>An answer.", "Sure. An answer.", "Well."),
    ("<reasoning>a < b</reasoning>1 < 2 and <b>", "1 < 2 and <b>", "a < b"),
    ("Well.</reasoning>An answer.", "Well.An answer.", ""),
    ("<reasoning>One.<reasoning>Two.</reasoning>An answer.", "An answer.", "One.Two."),
    ("<reasoning></reasoning>An answer.", "An answer.", ""),
    ("An answer <reas", "An answer <reas", ""),
]


@pytest.mark.parametrize(("written", "text", "reasoning"), CASES)
def test_it_is_told_apart_whole_and_cut_at_every_place(written: str, text: str, reasoning: str) -> None:
    for at in range(len(written) + 1):
        reader = MarkedReasoning()
        pieces = [*reader.feed(written[:at]), *reader.feed(written[at:]), *reader.close(finished=True)]
        assert "".join(piece.text for piece in pieces) == text
        assert "".join(piece.reasoning for piece in pieces) == reasoning


def test_many_markers_in_one_piece_are_all_told_apart() -> None:
    reader = MarkedReasoning()
    pieces = [*reader.feed("<reasoning>a</reasoning>b" * 10_000 + "</reas"), *reader.close(finished=True)]
    assert "".join(piece.text for piece in pieces) == "b" * 10_000 + "</reas"
    assert "".join(piece.reasoning for piece in pieces) == "a" * 10_000


def test_a_model_that_closes_nothing_and_says_nothing_else_has_answered_there() -> None:
    for finished, text in ((True, "The answer."), (False, "")):
        reader = MarkedReasoning()
        pieces = [*reader.feed("<reasoning>The answer."), *reader.close(finished=finished)]
        assert "".join(piece.text for piece in pieces) == text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_model_is_asked_names_the_markers(language: str) -> None:
    words = think_first("zh" if language == "zh" else "en")
    assert words.index(REASONING_START) < words.index(REASONING_END)


def program(*, marked: bool) -> Program[Completion]:
    call = LLMCall("answer", (ChatMessage("user", "?"),), marked_reasoning=marked)
    return (yield from ask(call))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_events_and_completion_hold_no_marker(asynchronous: bool) -> None:
    llm = ScriptedLLM("<reasoning>The pump.</reasoning> Oil.")

    async def read() -> list[Event]:
        return [event async for event in astream(program(marked=True), llm)]

    if asynchronous:
        import asyncio

        events = asyncio.run(read())
    else:
        events = list(stream(program(marked=True), llm))
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "The pump."
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Oil."
    completion = run(program(marked=True), llm)
    assert (completion.text.strip(), completion.reasoning) == ("Oil.", "The pump.")


def test_where_nobody_asked_for_markers_they_are_text() -> None:
    written = "<reasoning>The pump.</reasoning> Oil."
    assert run(program(marked=False), ScriptedLLM(written)).text == written
