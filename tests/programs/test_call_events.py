"""What one call tells: its pieces in order, reasoning apart, refusals and blanks held back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs.scenes import call

from responsa.programs.call_reader import CallReader
from responsa.prompts import may_refuse
from responsa.schema.calls import LLMCall
from responsa.schema.completions import Delta, Finish, Timings, Usage
from responsa.schema.errors import RateLimited, StepFailed, StreamInterrupted
from responsa.schema.events import Event, ReasoningDelta, StepFinished, StepStarted, TextDelta

ASKED = call("Why?", item=2)


def shown(asked: LLMCall, pieces: Sequence[str]) -> list[str]:
    """The texts a listener is given of an answer in pieces."""
    reader = CallReader(0, asked)
    events = [event for piece in pieces for event in reader.feed(Delta(piece))]
    return [event.text for event in events + reader.complete()[1] if isinstance(event, TextDelta)]


def in_pieces(text: str) -> st.SearchStrategy[list[str]]:
    cuts = st.lists(st.integers(0, len(text)), max_size=8).map(sorted)
    return cuts.map(lambda ends: [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)])


def test_a_call_tells_its_start_its_pieces_and_its_end() -> None:
    reader = CallReader(7, replace(ASKED, draft=True))
    finish = Finish("stop", Usage(9, 2, 4), Timings(server_prompt=0.5, server_predicted=1.5), "m")
    events: list[Event] = [reader.start()]
    for item in (Delta(reasoning="Hm"), Delta("Be", reasoning="."), Delta("cause"), finish):
        events += reader.feed(item)
    completion, last = reader.complete()
    assert events + last == [
        StepStarted(7, replace(ASKED, draft=True)),
        ReasoningDelta("Hm", 7, 2),
        ReasoningDelta(".", 7, 2),
        TextDelta("Be", 7, provisional=True, item=2),
        TextDelta("cause", 7, provisional=True, item=2),
        StepFinished(7, "answer", completion),
    ]
    assert (completion.text, completion.reasoning, completion.finish_reason) == ("Because", "Hm.", "stop")
    assert (completion.usage, completion.model) == (Usage(9, 2, 4), "m")
    timings = completion.timings
    assert (timings.server_prompt, timings.server_predicted) == (0.5, 1.5)
    assert timings.first_token is not None
    assert timings.total is not None
    assert 0 <= timings.first_token <= timings.total


def test_a_call_that_says_nothing_has_no_first_token() -> None:
    completion, events = CallReader(0, ASKED).complete()
    assert (completion.text, completion.finish_reason, completion.timings.first_token) == ("", None, None)
    assert events == [StepFinished(0, "answer", completion)]


def test_the_text_of_a_call_that_is_not_the_answer_is_kept_and_not_shown() -> None:
    reader = CallReader(0, replace(ASKED, visible=False))
    assert reader.feed(Delta("secret")) == []
    assert reader.complete()[0].text == "secret"


@given(st.sampled_from(["Because.", "  Because.", "\n\nIt is so. \n", " \n\t", ""]).flatmap(in_pieces))
def test_blanks_before_the_first_word_are_not_shown_and_nothing_else_is_lost(pieces: list[str]) -> None:
    assert "".join(shown(ASKED, pieces)) == "".join(pieces).lstrip()


@given(st.sampled_from(["I don't know.", " **I don’t know** [1, 2]\n", "我不知道。", "  \n"]).flatmap(in_pieces))
def test_a_refusal_in_any_pieces_is_never_shown_where_it_is_held_back(pieces: list[str]) -> None:
    assert shown(replace(ASKED, hold_back=may_refuse), pieces) == []
    assert "".join(shown(ASKED, pieces)) == "".join(pieces).lstrip()


@given(
    st.sampled_from(
        ["I don't know. Ask on.", "I", "I don't", "I don't know much [1].", "我不", "我不知道它。", "Because."]
    ).flatmap(in_pieces)
)
def test_a_text_that_only_starts_like_a_refusal_is_shown_in_full(pieces: list[str]) -> None:
    assert "".join(shown(replace(ASKED, hold_back=may_refuse), pieces)) == "".join(pieces)


def test_what_is_no_refusal_is_shown_as_soon_as_that_is_clear() -> None:
    reader = CallReader(0, replace(ASKED, hold_back=may_refuse))
    assert reader.feed(Delta("I don't ")) == []
    assert reader.feed(Delta("think")) == [TextDelta("I don't think", 0, item=2)]
    assert reader.feed(Delta(" so.")) == [TextDelta(" so.", 0, item=2)]


@pytest.mark.parametrize("error", [RateLimited("u", 1.0), StreamInterrupted("u", "x", "gone")])
def test_a_call_that_fails_before_any_text_fails_with_the_error_itself(error: Exception) -> None:
    failed, events = CallReader(3, ASKED).fail(error)
    assert failed.error is error
    assert events == [StepFinished(3, "answer", error=error)]


def test_a_foreign_error_becomes_a_failed_step_with_its_cause() -> None:
    cause = ZeroDivisionError("by zero")
    failed, _ = CallReader(0, ASKED).fail(cause)
    assert isinstance(failed.error, StepFailed)
    assert (failed.error.stage, failed.error.reason) == ("answer", "ZeroDivisionError: by zero")
    assert failed.error.__cause__ is cause


@pytest.mark.parametrize("error", [RateLimited("u", 1.0), ZeroDivisionError("by zero")])
def test_what_had_arrived_before_a_failure_stays_in_the_error(error: Exception) -> None:
    reader = CallReader(0, ASKED)
    reader.feed(Delta("Half an"))
    failed, _ = reader.fail(error)
    assert isinstance(failed.error, StreamInterrupted)
    assert failed.error.text_so_far == "Half an"
    causes = [failed.error.__cause__, getattr(failed.error.__cause__, "__cause__", None)]
    assert error in causes


def test_a_stream_that_already_tells_what_arrived_is_not_wrapped_again() -> None:
    reader = CallReader(0, ASKED)
    reader.feed(Delta("Half"))
    error = StreamInterrupted("u", "Half", "reset")
    assert reader.fail(error)[0].error is error
