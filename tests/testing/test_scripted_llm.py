"""The scripted model: answers as told, counted as a server counts, and no prompt larger than its window."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from responsa.schema.completions import Delta, Finish, Sampling, StreamItem, Usage
from responsa.schema.errors import ContextWindowExceeded, RateLimited
from responsa.schema.messages import ChatMessage, ImageBlock
from responsa.testing import ScriptedLLM

ASKED = (ChatMessage("user", "Why is it so?"),)


def items(
    llm: ScriptedLLM, sampling: Sampling = Sampling(), messages: Sequence[ChatMessage] = ASKED
) -> list[StreamItem]:
    return list(llm.stream(messages, sampling))


def aitems(
    llm: ScriptedLLM, sampling: Sampling = Sampling(), messages: Sequence[ChatMessage] = ASKED
) -> list[StreamItem]:
    async def read() -> list[StreamItem]:
        return [item async for item in llm.astream(messages, sampling)]

    return asyncio.run(read())


BOTH = pytest.mark.parametrize("read", [items, aitems], ids=["blocking", "async"])


def text(told: Sequence[StreamItem]) -> str:
    return "".join(item.text for item in told if isinstance(item, Delta))


@BOTH
def test_an_answer_comes_in_pieces_and_ends_with_its_usage(read: Callable[..., Any]) -> None:
    told = read(ScriptedLLM("It is, 好的。", reasoning="Hm."))
    assert told[0] == Delta(reasoning="Hm.")
    assert text(told) == "It is, 好的。"
    assert told[-1] == Finish("stop", Usage(12, 8, 0), model="scripted")


@BOTH
def test_answers_come_in_turn_and_the_last_one_repeats(read: Callable[..., Any]) -> None:
    llm = ScriptedLLM(["a", "b"])
    assert [text(read(llm)) for _ in range(4)] == ["a", "b", "b", "b"]
    assert llm.prompts == [ASKED] * 4


@BOTH
def test_an_answer_may_hang_on_the_question(read: Callable[..., Any]) -> None:
    assert text(read(ScriptedLLM(lambda messages: messages[-1].content.upper()))) == "WHY IS IT SO?"


@BOTH
def test_an_exception_is_raised_instead_of_given(read: Callable[..., Any]) -> None:
    llm = ScriptedLLM([RateLimited("u"), "then"])
    with pytest.raises(RateLimited):
        read(llm)
    assert (text(read(llm)), llm.under_way, llm.closed) == ("then", 0, 0)


@BOTH
@pytest.mark.parametrize(("max_tokens", "window", "given"), [(3, 100, "one two"), (None, 17, "one two three")])
def test_an_answer_ends_at_its_limit_or_the_windows(
    read: Callable[..., Any], max_tokens: int | None, window: int, given: str
) -> None:
    told = read(ScriptedLLM("one two three four", context_window=window), Sampling(max_tokens))
    assert text(told) == given
    assert told[-1].reason == "length"


@BOTH
def test_a_prompt_that_fills_the_window_is_refused_as_a_server_does(read: Callable[..., Any]) -> None:
    with pytest.raises(ContextWindowExceeded) as error:
        read(ScriptedLLM(context_window=12))
    assert (error.value.n_prompt_tokens, error.value.n_ctx) == (12, 12)


def test_counts_are_the_same_in_both_forms_and_a_picture_counts_too() -> None:
    llm = ScriptedLLM()
    texts = ["", "one two", "好的。", "a.b  c"]
    prompts = [ASKED, (ChatMessage("user", blocks=[ImageBlock(url="u")]),)]
    assert llm.count_tokens(texts) == asyncio.run(llm.acount_tokens(texts)) == [0, 3, 3, 5]
    assert llm.count_prompts(prompts) == asyncio.run(llm.acount_prompts(prompts)) == [12, 68]


def test_it_says_what_it_is_and_may_be_had_with_another_window() -> None:
    llm = ScriptedLLM(["a", "b"], context_window=100, num_output=7, slots=3)
    items(llm)
    other = llm.with_window(50)
    assert asyncio.run(other.ametadata()) == other.metadata
    assert (other.metadata.context_window, other.metadata.num_output, other.metadata.slots) == (50, 7, 3)
    assert (text(items(other)), len(llm.prompts)) == ("a", 1)
