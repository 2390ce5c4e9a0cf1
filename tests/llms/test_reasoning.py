"""A model's reasoning never mixes with its answer, however they come."""

from __future__ import annotations

import pytest

from responsa.llms.reasoning import ReasoningSplitter

CASES = {
    "no tags": (False, "Paris.", "", "Paris."),
    "tags": (False, "<think>Hm.</think>Paris.", "Hm.", "Paris."),
    "white space around": (False, "\n<think>\nHm.\n</think>\n\nParis.\n", "\nHm.\n", "Paris.\n"),
    "empty block": (False, "<think></think>Paris.", "", "Paris."),
    "empty block with line breaks": (False, "<think>\n\n</think>\n\nParis.", "\n\n", "Paris."),
    "something like a tag": (False, "<thin ice>", "", "<thin ice>"),
    "a tag later on is text": (False, "Write <think>x</think>.", "", "Write <think>x</think>."),
    "a second block is text": (False, "<think>a</think>b<think>c</think>", "a", "b<think>c</think>"),
    "something like the end of a block": (False, "<think>a </thin b</think>c", "a </thin b", "c"),
    "the block never ends": (False, "<think>Hm", "Hm", ""),
    "only half a tag": (False, "<thi", "", "<thi"),
    "opening tag in the prompt": (True, "Hm.</think>Paris.", "Hm.", "Paris."),
    "opening tag in the prompt and written again": (True, "<think>\nHm.</think>Paris.", "\nHm.", "Paris."),
    "opening tag in the prompt, closed at once": (True, "</think>Paris.", "", "Paris."),
    "nothing": (False, "", "", ""),
}


def split(opened: bool, *pieces: str, finished: bool = True) -> tuple[str, str]:
    splitter = ReasoningSplitter(opened)
    deltas = [delta for piece in pieces for delta in splitter.feed(piece)] + splitter.close(finished)
    assert all(delta.text or delta.reasoning for delta in deltas)
    assert not any(delta.text and delta.reasoning for delta in deltas)
    return "".join(delta.reasoning for delta in deltas), "".join(delta.text for delta in deltas)


@pytest.mark.parametrize(("opened", "stream", "reasoning", "text"), CASES.values(), ids=CASES.keys())
def test_reasoning_and_text_come_apart_wherever_the_stream_is_cut(
    opened: bool, stream: str, reasoning: str, text: str
) -> None:
    for cut in range(len(stream) + 1):
        assert split(opened, stream[:cut], stream[cut:]) == (reasoning, text)
    assert split(opened, *stream) == (reasoning, text)


def test_a_model_that_does_not_reason_after_an_opened_tag_still_gives_its_answer() -> None:
    for cut in range(len("Paris.")):
        assert split(True, "Paris."[:cut], "Paris."[cut:])[1] == "Paris."


def test_white_space_before_the_first_word_is_kept() -> None:
    for opened in (False, True):
        assert split(opened, *" \n" * 50) == ("", " \n" * 50)
        assert split(opened, *" \n" * 50, "<th", "ink>Hm.</think>Yes.") == ("Hm.", "Yes.")
    assert split(False, *" \n" * 50, "Yes.") == ("", " \n" * 50 + "Yes.")


def test_reasoning_that_is_cut_stays_reasoning() -> None:
    assert split(True, "Hm, let me", finished=False) == ("Hm, let me", "")


def test_where_the_server_sends_reasoning_apart_the_text_is_left_alone() -> None:
    splitter = ReasoningSplitter(opened=True)
    splitter.reasoning_is_apart()
    assert [delta.text for delta in splitter.feed("<think>is text")] == ["<think>is text"]


def test_text_is_handed_on_at_once_when_it_can_be_no_tag() -> None:
    splitter = ReasoningSplitter()
    assert [[delta.text for delta in splitter.feed(piece)] for piece in ("P", "aris", "<")] == [["P"], ["aris"], ["<"]]
