"""What was said and delivered is kept, whatever becomes of a turn."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.chat_engine.scenes import Shelf, talker

from responsa.chat_engine import CondensePlusContextChatEngine, ContextChatEngine, SimpleChatEngine
from responsa.memory import Memory
from responsa.schema.errors import ContextWindowExceeded, ResponsaError, ServerUnreachable, WindowTooSmall
from responsa.schema.events import TextDelta
from responsa.testing import ScriptedLLM


def stored(memory: Memory) -> list[tuple[str, str, str]]:
    return [(message.role.value, message.content, message.status) for message in memory.recover()]


def test_the_message_is_kept_when_the_model_cannot_be_asked() -> None:
    memory = Memory.from_defaults()
    engine = SimpleChatEngine(llm=ScriptedLLM(ServerUnreachable("http://x")), memory=memory)
    with pytest.raises(ServerUnreachable):
        engine.chat("Are you there?")
    assert stored(memory) == [("user", "Are you there?", "complete"), ("assistant", "", "interrupted")]


def test_a_retry_after_a_failure_does_not_double_the_message() -> None:
    memory = Memory.from_defaults()
    engine = SimpleChatEngine(llm=ScriptedLLM([ServerUnreachable("http://x"), "Yes."]), memory=memory)
    engine._llm._script = [ServerUnreachable("http://x")]
    with pytest.raises(ServerUnreachable):
        engine.chat("Are you there?")
    again = SimpleChatEngine(llm=ScriptedLLM("Yes."), memory=memory)
    again.chat("Are you there?")
    assert [message.content for message in again.chat_history] == ["Are you there?", "Yes."]


def test_closing_a_stream_keeps_the_delivered_part_as_interrupted() -> None:
    memory = Memory.from_defaults()
    llm = ScriptedLLM("one two three four")
    response = SimpleChatEngine(llm=llm, memory=memory).stream_chat("Count.")
    pieces = response.response_gen
    delivered = next(pieces) + next(pieces) + next(pieces)
    pieces.close()
    assert stored(memory)[-1] == ("assistant", delivered, "interrupted")
    assert llm.closed == 1


def test_cancelling_a_task_keeps_the_delivered_part_as_interrupted() -> None:
    memory = Memory.from_defaults()
    llm = ScriptedLLM("one two three four five six")
    engine = SimpleChatEngine(llm=llm, memory=memory)

    async def scene() -> str:
        delivered = ""
        events = engine.astream_events("Count.")
        async for event in events:
            if isinstance(event, TextDelta):
                delivered += event.text
                if len(delivered) > 5:
                    break
        await events.aclose()
        return delivered

    delivered = asyncio.run(scene())
    assert stored(memory)[-1] == ("assistant", delivered, "interrupted")
    assert llm.closed == 1


def test_a_refined_answer_is_stored_and_not_its_drafts() -> None:
    shelf = Shelf("The first fact is long enough to fill a prompt. " * 12, "The second fact is as long. " * 20)
    llm = ScriptedLLM(["A draft.", "A better answer."], context_window=420, num_output=60)
    memory = Memory.from_defaults()
    response = ContextChatEngine(shelf, llm=llm, memory=memory).chat("What are the facts?")
    assert len(response.trace) > 1
    assert stored(memory)[-1] == ("assistant", response.text, "complete")


MESSAGES = st.lists(st.sampled_from(["Why?", "什么时候？" * 20, "Tell me more of it. " * 30, "x" * 400]), max_size=8)


@settings(max_examples=60)
@given(
    MESSAGES, st.integers(300, 1500), st.integers(100, 3000), st.sampled_from(["Yes.", "word " * 400, "", "我不知道。"])
)
def test_every_prompt_fits_and_no_turn_is_lost(messages: list[str], window: int, limit: int, answer: str) -> None:
    memory = Memory.from_defaults(token_limit=limit)
    llm = ScriptedLLM(talker(answer=answer), context_window=window, num_output=80)
    engine = CondensePlusContextChatEngine(Shelf(), llm=llm, memory=memory)
    said: list[str] = []
    for message in messages:
        try:
            engine.chat(message)
        except WindowTooSmall:
            pass
        except ContextWindowExceeded:
            raise
        except ResponsaError as error:  # pragma: no cover - named in the failure
            raise AssertionError(error) from error
        if not said or said[-1] != message:
            said.append(message)
    for prompt, sampling in zip(llm.prompts, llm.samplings, strict=True):
        assert llm.count_prompts([prompt])[0] + (sampling.max_tokens or 0) <= window
    users = [message.content for message in memory.get_all() if message.role.value == "user"]
    assert users[-1:] == messages[-1:]
    assert [u for n, u in enumerate(users) if n == 0 or users[n - 1] != u] == said
