"""Conversations with a real model on a real server."""

from __future__ import annotations

import pytest

from responsa.chat_engine import SimpleChatEngine
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.memory import Memory
from responsa.schema.messages import ChatMessage, MessageRole

pytestmark = pytest.mark.real_server

TURNS = 40
ANSWER_TOKENS = 3


@pytest.mark.timeout(900)
def test_a_conversation_outgrows_a_window_of_2048_tokens_without_an_error_and_without_losing_a_turn(
    llama_server: LlamaServer,
) -> None:
    # The server keeps what it has read of a conversation whose beginning is left out, instead of reading it all again.
    reuse = {"n_cache_reuse": 8}
    llm = OpenAILike(llama_server.model, api_base=llama_server.url, temperature=0.0, additional_kwargs=reuse)
    window = llm.metadata.context_window
    assert window == 2048
    earlier = [
        message
        for number in range(10)
        for message in (
            ChatMessage("user", f"{number}: " + "what is said here is only there to be long, and more follows. " * 9),
            ChatMessage("assistant", "Yes."),
        )
    ]
    # The memory's limit is above the window, so that it is the window that decides what is sent.
    memory = Memory.from_defaults(token_limit=10 * window, chat_history=earlier)
    engine = SimpleChatEngine(llm=llm, memory=memory, llm_kwargs={"max_tokens": ANSWER_TOKENS})
    shown: list[int] = []
    for number in range(TURNS):
        (record,) = engine.chat(f"What comes after {number}?").trace
        assert record.completion is not None
        prompt = record.completion.usage.prompt_tokens
        assert prompt == record.call.prompt_tokens
        assert prompt is not None
        assert prompt + ANSWER_TOKENS <= window
        messages = record.call.messages
        assert [one.role for one in messages[::2]] == [MessageRole.USER] * (len(messages) // 2 + 1)
        assert messages[-1].content == f"What comes after {number}?"
        shown.append(len(messages))
    llm.close()
    assert shown[0] == len(earlier) + 1  # at first all of it is sent
    assert shown[-1] < len(earlier) + 2 * TURNS - 1
    kept = memory.recover()
    assert [one.message for one in kept[: len(earlier)]] == earlier
    new = kept[len(earlier) :]
    assert [one.content for one in new[::2]] == [f"What comes after {number}?" for number in range(TURNS)]
    assert [one.turn for one in new[1::2]] == [one.id for one in new[::2]]
    assert {one.status for one in kept} == {"complete"}
