"""The memory under its old name works, and says that it is old."""

from __future__ import annotations

import asyncio
import json
import warnings

import pytest
from tests.memory.support import LLM, talk, tokens, user

from responsa.memory import ChatMemoryBuffer, SimpleChatStore
from responsa.schema.errors import InvalidOption
from responsa.testing import ScriptedLLM

pytestmark = pytest.mark.filterwarnings("ignore:ChatMemoryBuffer:DeprecationWarning")


@pytest.mark.parametrize(
    "make",
    [ChatMemoryBuffer, ChatMemoryBuffer.from_defaults, lambda: ChatMemoryBuffer.from_string(saved())],
)
def test_it_warns_whoever_makes_one(make: type[ChatMemoryBuffer]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
    mine = [one for one in caught if one.filename == __file__]
    assert mine[-1].category is DeprecationWarning
    assert "Memory.from_defaults" in str(mine[-1].message)


def saved() -> str:
    return ChatMemoryBuffer.from_defaults(talk(2), LLM, chat_store_key="k", token_limit=50).to_string()


def test_it_recalls_within_its_limit() -> None:
    store = SimpleChatStore()
    one = ChatMemoryBuffer.from_defaults(talk(10), LLM, chat_store=store, chat_store_key="anna", token_limit=60)
    assert tokens(one.get()) <= 60
    assert one.get() == asyncio.run(one.aget()) == talk(10)[-2 * (60 // tokens(talk(1))) :]
    assert store.get_messages("anna") == one.get_all() == talk(10)


def test_the_prompt_may_have_tokens_already() -> None:
    one = ChatMemoryBuffer.from_defaults(talk(10), LLM, token_limit=60)
    assert one.get(initial_token_count=40) == talk(10)[-2:]
    for count in (61, 100):
        with pytest.raises(InvalidOption, match="initial_token_count"):
            one.get(initial_token_count=count)


def test_the_limit_follows_from_the_window() -> None:
    assert ChatMemoryBuffer.from_defaults(llm=ScriptedLLM(context_window=1000)).token_limit == 750
    assert ChatMemoryBuffer.from_defaults().token_limit == 3000


def test_it_is_saved_and_loaded() -> None:
    one = ChatMemoryBuffer.from_string(saved(), llm=LLM)
    assert (one.get_all(), one.session_id, one.token_limit) == (talk(2), "k", 50)
    assert ChatMemoryBuffer.from_dict(json.loads(saved())).get_all() == talk(2)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"messages": [{"role": "nobody", "blocks": []}]}', "[" * 100_000])
def test_what_it_did_not_save_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption):
        ChatMemoryBuffer.from_string(text)


def test_it_takes_messages_like_any_memory() -> None:
    one = ChatMemoryBuffer(llm=LLM)
    one.put(user("hello"))
    assert one.get() == [user("hello")]
    one.reset()
    assert one.get() == []
