"""The calls people make themselves: complete, chat, and their streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any

import pytest
from tests.llms.both import QUESTION, Both, both

from responsa.llms import LLM
from responsa.schema.completions import Delta, Finish, LLMMetadata, Sampling, StreamItem, Usage
from responsa.schema.errors import UnknownOption
from responsa.schema.messages import ChatMessage, MessageRole

ITEMS: list[StreamItem] = [
    Delta("", "Hm."), Delta("Pa"), Delta("ris"), Finish("stop", Usage(5, 2), model="m"),
]  # fmt: skip


class Fixed(LLM):
    def __init__(self) -> None:
        self.asked: list[tuple[Sequence[ChatMessage], Sampling]] = []

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100)

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        self.asked.append((messages, sampling))
        yield from ITEMS

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        self.asked.append((messages, sampling))
        for item in ITEMS:
            yield item


def steps_of(side: Both, llm: LLM, name: str, *args: Any) -> list[Any]:
    async def collect() -> list[Any]:
        return [step async for step in await getattr(llm, f"astream_{name}")(*args)]

    return asyncio.run(collect()) if side.is_async else list(getattr(llm, f"stream_{name}")(*args))


@both
def test_complete_and_chat_give_the_whole_answer(side: Both) -> None:
    llm = Fixed()
    completed = side.call(llm, "complete", "Where?", temperature=0.0, stop="\n")
    chatted = side.call(llm, "chat", QUESTION)
    assert (completed.text, str(completed)) == ("Paris", "Paris")
    assert (chatted.message.role, chatted.message.content) == (MessageRole.ASSISTANT, "Paris")
    for response in (completed, chatted):
        assert response.delta is None
        assert (response.raw.reasoning, response.raw.usage, response.raw.model) == ("Hm.", Usage(5, 2), "m")
    assert llm.asked[0] == ([ChatMessage("user", "Where?")], Sampling(temperature=0.0, stop=("\n",)))


@both
@pytest.mark.parametrize("name", ["complete", "chat"])
def test_a_streamed_answer_has_what_each_step_adds_and_the_text_so_far(side: Both, name: str) -> None:
    steps = steps_of(side, Fixed(), name, "Where?" if name == "complete" else QUESTION)
    texts = [step.text if name == "complete" else step.message.content for step in steps]
    assert [step.delta for step in steps] == ["", "Pa", "ris", ""]
    assert texts == ["", "Pa", "Paris", "Paris"]
    assert steps[0].additional_kwargs == {"thinking_delta": "Hm."}
    assert [step.raw is not None for step in steps] == [False, False, False, True]
    assert steps[-1].raw.text == "Paris"


@pytest.mark.parametrize("name", ["complete", "chat", "stream_complete", "stream_chat"])
def test_a_keyword_no_sampling_has_is_refused_at_the_call(name: str) -> None:
    with pytest.raises(UnknownOption) as caught:
        getattr(Fixed(), name)("x" if "complete" in name else QUESTION, max_token=3)
    assert "max_tokens" in caught.value.known


def test_messages_of_responses_can_be_shown() -> None:
    llm = Fixed()
    assert repr(llm.complete("x")) == "CompletionResponse(text='Paris', delta=None)"
    assert str(llm.chat(QUESTION)) == "assistant: Paris"
    assert "Paris" in repr(llm.chat(QUESTION))
