"""Packing by hand: the familiar helpers, over any text and any tokenizer."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packing.texts import CHINESE, ENGLISH, TEXTS

from responsa import ChatPromptHelper, ChatPromptTemplate, PromptHelper, PromptTemplate
from responsa.packing.cutting import cut
from responsa.packing.hand_counter import HandCounter
from responsa.programs import run
from responsa.schema.completions import LLMMetadata, Sampling
from responsa.schema.errors import MissingArgument, WindowTooSmall
from responsa.schema.messages import ChatMessage, ImageBlock, TextBlock
from responsa.testing import ScriptedLLM

TEMPLATE = PromptTemplate("Given:\n{context_str}\nAnswer {query_str}")
LLM = ScriptedLLM()
TEXT_LISTS = st.lists(TEXTS, max_size=8)


@given(TEXT_LISTS, st.integers(260, 900), st.sampled_from([None, 40]))
def test_packs_hold_every_text_in_order_and_fit_the_window(texts: list[str], window: int, limit: int | None) -> None:
    packs = PromptHelper(window, 100, chunk_size_limit=limit).repack(TEMPLATE, texts, llm=LLM)
    together = "".join("".join(packs).split())
    assert together == "".join("".join(text for text in texts if text.strip()).split())
    for packed in packs:
        messages = TEMPLATE.format_messages(context_str=packed, query_str="")
        assert LLM.count_prompts([messages])[0] + 100 <= window
        if limit is not None:
            assert LLM.count_tokens([packed])[0] <= limit


def test_texts_that_fit_are_joined_and_never_cut() -> None:
    texts = [ENGLISH * 2, CHINESE, "seven."]
    assert PromptHelper().repack(TEMPLATE, texts) == ["\n\n".join(texts)]
    assert PromptHelper().repack(TEMPLATE, []) == [""]
    assert PromptHelper().repack(TEMPLATE, ["", " \n"]) == [""]
    packs = PromptHelper(chunk_size_limit=60).repack(TEMPLATE, texts, llm=LLM)
    assert "seven." in packs[-1]
    assert len(packs) > 1


@given(TEXT_LISTS.filter(bool), st.integers(260, 900))
def test_a_truncated_text_is_a_beginning_of_it_within_its_equal_share(texts: list[str], window: int) -> None:
    helper = PromptHelper(window, 100)
    room = run(helper.room(TEMPLATE, 5, LLM), LLM)
    for text, short in zip(texts, helper.truncate(TEMPLATE, texts, llm=LLM), strict=True):
        assert text.startswith(short)
        assert LLM.count_tokens([short])[0] <= room // len(texts)


def test_a_template_that_leaves_no_room_is_refused_with_the_numbers() -> None:
    long = PromptTemplate("word " * 400 + "{context_str}")
    for call in (PromptHelper(300, 100).repack, PromptHelper(300, 100).truncate):
        with pytest.raises(WindowTooSmall, match=r"300 tokens.*template"):
            call(long, ["a"], llm=LLM)
    with pytest.raises(WindowTooSmall, match="texts 500"):
        PromptHelper(300, 100).truncate(TEMPLATE, ["a"] * 500, llm=LLM)


def test_a_chat_template_counts_with_all_its_messages() -> None:
    chat = ChatPromptTemplate.from_messages([("system", "word " * 50), ("user", "{context_str}")])
    plain = PromptTemplate("{context_str}")
    helper = PromptHelper(700, 100)
    assert run(helper.room(chat, 5, LLM), LLM) + 100 <= run(helper.room(plain, 5, LLM), LLM)


def test_who_counts_is_the_helpers_own_tokenizer_else_the_llm_else_an_estimate_from_above() -> None:
    characters = PromptHelper(400, 100, tokenizer=list)
    assert max(map(len, characters.repack(TEMPLATE, [ENGLISH * 8], llm=LLM))) < 300
    by_llm = PromptHelper(400, 100).repack(TEMPLATE, [ENGLISH * 8], llm=LLM)
    assert len(by_llm) < len(characters.repack(TEMPLATE, [ENGLISH * 8]))
    estimated = PromptHelper(400, 100).repack(TEMPLATE, [ENGLISH * 8])
    assert "".join("".join(estimated).split()) == "".join((ENGLISH * 8).split())


def test_a_helper_is_made_of_what_a_model_says_of_itself() -> None:
    metadata = LLMMetadata(2000, 300)
    helper = PromptHelper.from_llm_metadata(metadata, chunk_overlap_ratio=0.2, chunk_size_limit=90)
    assert (helper.context_window, helper.num_output, helper.chunk_overlap_ratio) == (2000, 300, 0.2)
    assert helper.chunk_size_limit == 90
    chat = ChatPromptHelper.from_llm_metadata(metadata, image_tokens=7)
    assert (chat.context_window, chat.num_output, chat.image_tokens, chat.chunk_size_limit) == (2000, 300, 7, None)


@given(TEXTS, st.integers(8, 120), st.integers(0, 60))
def test_pieces_that_overlap_fit_go_forward_and_repeat_no_more_than_was_said(
    text: str, room: int, overlap: int
) -> None:
    pieces = run(cut(text, room, overlap), LLM)
    assert "".join(text[max(start, end_before) : end] for (start, end), end_before in spans_after(pieces)) == text
    for (start, end), end_before in spans_after(pieces):
        assert start <= end_before < end or (start == end_before == 0)
        assert LLM.count_tokens([text[start:end_before]])[0] <= overlap
    assert all(LLM.count_tokens([text[s:e]])[0] <= room or e - s == 1 for (s, e), _ in pieces)
    starts = [start for (start, _), _ in pieces]
    assert starts == sorted(set(starts))


def spans_after(pieces: list[tuple[tuple[int, int], int]]) -> list[tuple[tuple[int, int], int]]:
    """Each piece's range, with where the one before it ended."""
    ends = [0, *(end for (_, end), _ in pieces)]
    return [(span, before) for (span, _), before in zip(pieces, ends, strict=False)]


def test_overlap_repeats_whole_sentences() -> None:
    text = "".join(f"Sentence {number} is here. " for number in range(60))
    plain = PromptHelper(400, 100).repack(TEMPLATE, [text], llm=LLM)
    assert "".join(plain).count("Sentence 30 ") == 1
    lapped = PromptHelper(400, 100, chunk_overlap_ratio=0.25).repack(TEMPLATE, [text], llm=LLM)
    assert all(one.startswith("Sentence ") for one in lapped)
    for one, following in itertools.pairwise(lapped):
        first = following.split(" is here.")[0]
        assert first in one


def both(
    helper: ChatPromptHelper, name: str, messages: list[ChatMessage], llm: ScriptedLLM | None
) -> list[ChatMessage]:
    """What the blocking and the async form give, which must be the same."""
    given: list[ChatMessage] = getattr(helper, name)(TEMPLATE, messages, llm=llm)
    assert asyncio.run(getattr(helper, f"a{name}")(TEMPLATE, messages, llm=llm)) == given
    return given


@pytest.mark.parametrize("llm", [LLM, None], ids=["llm", "estimate"])
def test_messages_are_joined_with_their_pictures(llm: ScriptedLLM | None) -> None:
    picture = ImageBlock(url="https://pictures/1.png")
    messages = [
        ChatMessage("user", blocks=[TextBlock("One."), picture]),
        ChatMessage("user", ""),
        ChatMessage("assistant", "Two."),
    ]
    (packed,) = both(ChatPromptHelper(image_tokens=100), "repack", messages, llm)
    assert packed.blocks == (TextBlock("One.\n\nTwo."), picture)
    assert both(ChatPromptHelper(image_tokens=100), "truncate", messages, llm) == [packed]
    assert both(ChatPromptHelper(), "repack", [], llm) == []
    assert both(ChatPromptHelper(), "truncate", [], llm) == []


def test_a_picture_that_does_not_fit_is_left_out_by_truncation() -> None:
    messages = [ChatMessage("user", "One."), ChatMessage("user", blocks=[ImageBlock(url="https://pictures/1.png")])]
    (packed,) = both(ChatPromptHelper(300, 100, image_tokens=1000), "truncate", messages, LLM)
    assert packed.blocks == (TextBlock("One."),)


def test_a_counter_is_no_model() -> None:
    counter = HandCounter(list, owner="a tokenizer")
    assert counter.count_tokens(["abc"]) == [3]
    for use in (
        lambda: counter.metadata,
        lambda: counter.stream([], Sampling()),
        lambda: counter.astream([], Sampling()),
    ):
        with pytest.raises(MissingArgument, match="a tokenizer needs an LLM that answers"):
            use()
