"""Each chat engine: what it searches with, what the model is shown, and how many calls a message takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.chat_engine.scenes import Shelf, talker

from responsa.chat_engine import (
    BaseChatEngine,
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import CompactAndRefine
from responsa.schema.errors import InvalidOption
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.testing import ScriptedLLM

FIRST, SECOND = "Which port has service B?", "When does it restart?"


def simple(llm: ScriptedLLM, shelf: Shelf, **options: Any) -> BaseChatEngine:
    return SimpleChatEngine(llm=llm, **options)


def context(llm: ScriptedLLM, shelf: Shelf, **options: Any) -> BaseChatEngine:
    return ContextChatEngine(shelf, llm=llm, **options)


def condense_question(llm: ScriptedLLM, shelf: Shelf, **options: Any) -> BaseChatEngine:
    return CondenseQuestionChatEngine(RetrieverQueryEngine(shelf, CompactAndRefine(llm)), llm=llm, **options)


def condense_plus_context(llm: ScriptedLLM, shelf: Shelf, **options: Any) -> BaseChatEngine:
    return CondensePlusContextChatEngine(shelf, llm=llm, **options)


Maker = Callable[..., BaseChatEngine]
ENGINES: list[Maker] = [simple, context, condense_question, condense_plus_context]


@pytest.mark.parametrize(
    ("make", "first", "second", "searched"),
    [
        (simple, ["answer"], ["answer"], []),
        (context, ["answer"], ["answer"], [FIRST, SECOND]),
        (condense_question, ["answer"], ["condense", "answer"], [FIRST, "When does service B restart?"]),
        (condense_plus_context, ["answer"], ["condense", "answer"], [FIRST, "When does service B restart?"]),
    ],
)
def test_calls_and_searches_of_two_messages(
    make: Maker, first: list[str], second: list[str], searched: list[str]
) -> None:
    shelf = Shelf()
    engine = make(ScriptedLLM(talker()), shelf)
    assert [record.call.stage for record in engine.chat(FIRST).trace] == first
    assert [call.stage for call in engine.plan(SECOND).calls] == second
    shelf.asked.clear() if make is simple else shelf.asked.pop()
    assert [record.call.stage for record in engine.chat(SECOND).trace] == second
    assert shelf.asked == searched


def test_what_was_searched_with_stands_in_the_response_and_is_an_event() -> None:
    engine = condense_plus_context(ScriptedLLM(talker()), Shelf())
    engine.chat(FIRST)
    events = list(engine.stream_events(SECOND))
    rewrites = [(event.question, event.rewritten) for event in events if event.type == "rewrite"]
    assert rewrites == [(SECOND, "When does service B restart?")]
    assert events[-1].response.searched_with == "When does service B restart?"


def test_the_users_own_sentence_is_what_is_answered_after_a_rewrite() -> None:
    llm = ScriptedLLM(talker())
    engine = condense_plus_context(llm, Shelf())
    engine.chat(FIRST)
    engine.chat(SECOND)
    shown = [message.content for message in llm.prompts[-1]]
    assert SECOND in shown[-1]
    assert "When does service B restart?" not in "".join(shown)
    assert FIRST in shown


@pytest.mark.parametrize("make", [condense_question, condense_plus_context])
def test_no_rewrite_with_skip_condense_or_an_empty_history(make: Maker) -> None:
    engine = make(ScriptedLLM(talker()), Shelf(), skip_condense=True)
    engine.chat(FIRST)
    assert [record.call.stage for record in engine.chat(SECOND).trace] == ["answer"]
    engine = make(ScriptedLLM(talker()), Shelf())
    engine.chat(FIRST)
    assert [record.call.stage for record in engine.chat(SECOND, chat_history=[]).trace] == ["answer"]


@pytest.mark.parametrize("make", ENGINES)
def test_a_given_history_replaces_what_was_remembered(make: Maker) -> None:
    engine = make(ScriptedLLM(talker()), Shelf())
    engine.chat(FIRST)
    given = [ChatMessage("user", "What is service C?"), ChatMessage("assistant", "A queue.")]
    engine.chat("And where does it run?", chat_history=given)
    assert [message.content for message in engine.chat_history[:2]] == ["What is service C?", "A queue."]
    assert len(engine.chat_history) == 4
    engine.reset()
    assert engine.chat_history == []


@pytest.mark.parametrize("make", ENGINES)
def test_a_system_prompt_and_prefix_messages_exclude_each_other(make: Maker) -> None:
    with pytest.raises(InvalidOption, match="system_prompt"):
        make(ScriptedLLM(), Shelf(), system_prompt="Be brief.", prefix_messages=[ChatMessage("user", "x")])


@pytest.mark.parametrize("make", [simple, context, condense_plus_context])
def test_the_system_prompt_joins_the_one_system_message(make: Maker) -> None:
    llm = ScriptedLLM(talker())
    make(llm, Shelf(), system_prompt="Be brief.").chat(FIRST)
    systems = [message.content for message in llm.prompts[-1] if message.role is MessageRole.SYSTEM]
    assert len(systems) == 1
    assert systems[0].endswith("Be brief.")


@pytest.mark.parametrize("make", ENGINES)
def test_every_way_to_chat_gives_the_same_text_and_history(make: Maker) -> None:
    def engine() -> BaseChatEngine:
        return make(ScriptedLLM(talker()), Shelf())

    async def asynchronous() -> list[tuple[str, list[ChatMessage]]]:
        results = []
        one = engine()
        results.append((str(await one.achat(FIRST)), one.chat_history))
        two = engine()
        streamed = await two.astream_chat(FIRST)
        pieces = [piece async for piece in streamed.async_response_gen()]
        results.append(("".join(pieces), two.chat_history))
        return results

    plain = engine()
    expected = (str(plain.chat(FIRST)), plain.chat_history)
    streaming = engine()
    assert ("".join(streaming.stream_chat(FIRST).response_gen), streaming.chat_history) == expected
    assert asyncio.run(asynchronous()) == [expected, expected]


@pytest.mark.parametrize(
    "message", ["Hi!", "hello there", "Thank you very much!", "你好", "谢谢！", "好的，谢谢", "Good morning."]
)
def test_small_talk_is_answered_without_a_search(message: str) -> None:
    shelf = Shelf()
    engine = condense_plus_context(ScriptedLLM("Hello."), shelf)
    engine.chat(FIRST)
    shelf.asked.clear()
    response = engine.chat(message)
    assert shelf.asked == []
    assert [record.call.stage for record in response.trace] == ["answer"]
    assert not response.grounded


@pytest.mark.parametrize("message", ["Hi, which port has it?", "谢谢，那它什么时候重启？", "ok computer"])
def test_a_question_behind_a_greeting_is_searched_for(message: str) -> None:
    shelf = Shelf()
    condense_plus_context(ScriptedLLM("It."), shelf).chat(message)
    assert shelf.asked == [message]


def test_small_talk_can_be_switched_off() -> None:
    shelf = Shelf()
    context(ScriptedLLM("Hello."), shelf, small_talk=False).chat("Hi!")
    assert shelf.asked == ["Hi!"]


@pytest.mark.parametrize("make", [context, condense_plus_context])
def test_braces_a_user_types_are_never_filled_in(make: Maker) -> None:
    llm = ScriptedLLM(talker(rewritten="What does {context_str} mean?"))
    engine = make(llm, Shelf())
    engine.chat("What does {context_str} and {query_str} mean?")
    engine.chat("And {existing_answer}?")
    assert "What does {context_str} and {query_str} mean?" in [message.content for message in llm.prompts[-1]]


def test_nothing_found_is_told_and_kept_as_it_was_delivered() -> None:
    class Empty(Shelf):
        def retrieve(self, query: Any) -> list[Any]:
            return []

    llm = ScriptedLLM()
    engine = context(llm, Empty())
    response = engine.chat(FIRST)
    assert (response.text, response.outcome.value, llm.prompts) == ("", "no_sources", [])
    assert engine.chat_history[-1].content == str(response)
