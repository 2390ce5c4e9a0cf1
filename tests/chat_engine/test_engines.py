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
from responsa.memory import Memory
from responsa.prompts import PromptTemplate, SelectorPromptTemplate
from responsa.query_engine import RetrieverQueryEngine
from responsa.response_synthesizers import CompactAndRefine
from responsa.schema.errors import InvalidOption, MissingPart, UnknownOption
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.settings import Settings
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


@pytest.mark.parametrize("make", ENGINES)
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


LONG = "The first fact is long enough to fill a prompt. " * 12, "The second fact is as long. " * 20


@pytest.mark.parametrize("texts", [(), LONG], ids=["one prompt", "several prompts"])
@pytest.mark.parametrize(
    ("make", "rewrites", "searches"),
    [(simple, 0, False), (context, 0, True), (condense_question, 1, True), (condense_plus_context, 1, True)],
)
def test_the_plan_of_a_follow_up_is_a_rewrite_or_none_and_the_answers_calls(
    make: Maker, rewrites: int, searches: bool, texts: tuple[str, ...]
) -> None:
    llm = ScriptedLLM(talker(), context_window=700, num_output=60)
    engine = make(llm, Shelf(*texts))
    first = engine.plan(FIRST)
    calls = len(first.calls)
    assert calls > 1 if searches and texts else calls == 1
    assert (first.exact, first.by_stage.get("condense", 0)) == (calls == 1, 0)
    engine.chat(FIRST)
    asked = len(llm.prompts)
    second = engine.plan(SECOND)
    assert len(llm.prompts) == asked
    assert (len(second.calls), second.by_stage.get("condense", 0)) == (rewrites + calls, rewrites)
    assert len(engine.chat(SECOND).trace) <= len(second.calls)
    assert asyncio.run(engine.aplan("And when does it stop?")).by_stage == second.by_stage


@pytest.mark.parametrize("make", ENGINES)
def test_prefix_messages_stand_before_the_conversation_and_are_no_history(make: Maker) -> None:
    llm = ScriptedLLM(talker())
    prefix = [ChatMessage("user", "What is service A?"), ChatMessage("assistant", "A cache.")]
    engine = make(llm, Shelf(), prefix_messages=prefix)
    assert [record.call.stage for record in engine.chat(FIRST).trace] == ["answer"]
    assert [message.content for message in llm.prompts[-1] if message in prefix] == ["What is service A?", "A cache."]
    assert len(engine.chat_history) == 2


@pytest.mark.parametrize("make", ENGINES)
def test_how_answers_are_generated_is_said_once_for_the_engine(make: Maker) -> None:
    llm = ScriptedLLM(talker())
    engine = make(llm, Shelf(), llm_kwargs={"max_tokens": 7, "temperature": 0.9})
    engine.chat(FIRST)
    engine.chat(SECOND)
    for sampling, prompt in zip(llm.samplings, llm.prompts, strict=True):
        rewrite = "Standalone question:" in prompt[-1].content
        assert (sampling.temperature, sampling.max_tokens == 7) == ((0.0, False) if rewrite else (0.9, True))


def defaults(engine: type[BaseChatEngine], **options: Any) -> BaseChatEngine:
    shelf = Shelf()
    if engine is SimpleChatEngine:
        return SimpleChatEngine.from_defaults(**options)
    if engine is CondenseQuestionChatEngine:
        return CondenseQuestionChatEngine.from_defaults(RetrieverQueryEngine(shelf), **options)
    return engine.from_defaults(shelf, **options)  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(
    ("engine", "own"),
    [
        (SimpleChatEngine, {}),
        (ContextChatEngine, {"context_template": "Passages: {context_str}", "small_talk": False}),
        (CondenseQuestionChatEngine, {"condense_question_prompt": "{chat_history} {question}", "skip_condense": True}),
        (CondensePlusContextChatEngine, {"context_prompt": "{context_str}", "condense_prompt": "{question}"}),
    ],
)
def test_from_defaults_takes_an_engines_own_keywords_and_refuses_others_by_name(
    engine: type[BaseChatEngine], own: dict[str, Any]
) -> None:
    assert type(defaults(engine, llm=ScriptedLLM(), system_prompt="Be brief.", **own)) is engine
    foreign = {"verbose": True} if own else {"skip_condense": True}
    with pytest.raises(UnknownOption) as told:
        defaults(engine, llm=ScriptedLLM(), **foreign)
    assert (told.value.name, told.value.owner) == (next(iter(foreign)), engine.__name__)
    assert {"llm", "memory", *own} <= set(told.value.known)
    assert not {"retriever", "query_engine"} & set(told.value.known)


@pytest.mark.parametrize("make", ENGINES)
def test_the_setting_answers_and_rewrites_where_no_llm_is_given(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_llm(llm: Any, shelf: Shelf, **options: Any) -> BaseChatEngine:
        return make(None, shelf, **options)  # type: ignore[arg-type]

    with pytest.raises(MissingPart):
        without_llm(None, Shelf()).chat(FIRST)
    llm = ScriptedLLM(talker())
    monkeypatch.setattr(Settings, "llm", llm)
    engine = without_llm(None, Shelf())
    engine.chat(FIRST)
    stages = [record.call.stage for record in engine.chat(SECOND).trace]
    assert len(llm.prompts) == 1 + len(stages)


def test_a_condense_prompt_that_depends_on_the_llm_is_given_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    llm = ScriptedLLM("When does service B restart?")
    monkeypatch.setattr(Settings, "llm", llm)
    shouting = SelectorPromptTemplate(
        PromptTemplate("{chat_history} {question}"),
        [(lambda asked: asked is llm, PromptTemplate("FOR IT: {question}"))],
    )
    engine = CondensePlusContextChatEngine(Shelf(), condense_prompt=shouting)
    engine.chat(FIRST)
    engine.chat(SECOND)
    assert llm.prompts[1][-1].content == f"FOR IT: {SECOND}"


def test_without_an_llm_of_its_own_the_query_engines_model_rewrites_too() -> None:
    llm = ScriptedLLM(talker())
    engine = CondenseQuestionChatEngine(RetrieverQueryEngine(Shelf(), CompactAndRefine(llm)))
    engine.chat(FIRST)
    engine.chat(SECOND)
    assert len(llm.prompts) == 3


def test_what_the_memory_warns_of_stands_in_the_response() -> None:
    memory = Memory.from_defaults(token_limit=30, chat_history=[ChatMessage("user", "word " * 60)])
    response = simple(ScriptedLLM("Yes."), Shelf(), memory=memory).chat(FIRST)
    assert "memory_message_cut" in [notice.code for notice in response.warnings]


def test_a_streamed_answer_has_its_sources_at_its_end() -> None:
    async def asynchronous() -> list[str]:
        streamed = await context(ScriptedLLM(talker()), Shelf()).astream_chat(FIRST)
        await streamed.get_response()
        assert set(streamed.metadata) == set(Shelf().texts)
        return [source.text for source in streamed.source_nodes]

    streamed = context(ScriptedLLM(talker()), Shelf()).stream_chat(FIRST)
    assert streamed.source_nodes == []
    streamed.get_response()
    assert [source.text for source in streamed.source_nodes] == list(Shelf().texts) == asyncio.run(asynchronous())
    assert set(streamed.metadata) == set(Shelf().texts)


@pytest.mark.parametrize(
    ("policy", "sent"),
    [(False, False), (True, True), (["other", "script*"], True), ("scripted", True), (["qwen3-*"], False)],
)
def test_reasoning_is_stored_apart_and_sent_back_only_to_models_that_are_to_have_it(
    policy: bool | str | list[str], sent: bool
) -> None:
    memory = Memory.from_defaults(send_reasoning=policy)
    llm = ScriptedLLM("Eight.", reasoning="Five and three.")
    engine = SimpleChatEngine(llm=llm, memory=memory)
    engine.chat("How many?")
    engine.chat("Really?")
    assert [message.reasoning for message in memory.recover()] == ["", "Five and three."] * 2
    assert all("Five" not in message.content for prompt in llm.prompts for message in prompt)
    assert ["reasoning_content" in m.additional_kwargs for m in llm.prompts[-1] if m.content == "Eight."] == [sent]
