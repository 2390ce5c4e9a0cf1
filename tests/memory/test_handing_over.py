"""What falls out of the history goes to the memory blocks, each message once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.memory.support import HISTORIES, LLM, RecordingBlock, assistant, talk, tokens, user

from responsa.memory import BaseMemoryBlock, Memory, Recollection, SimpleChatStore
from responsa.memory.window import turns_of_talk
from responsa.programs import LLMCall, Perform, Program, ask, perform, plan, run, stream
from responsa.schema.events import WarningRaised
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import StoredMessage
from responsa.testing import ScriptedLLM


def memory(*blocks: BaseMemoryBlock, store: ChatStore | None = None, limit: int = 60, **options: Any) -> Memory:
    return Memory("s", chat_store=store, memory_blocks=blocks, token_limit=limit, llm=LLM, **options)


def state(one: Memory, name: str = "Recorded") -> list[str]:
    kept = one.chat_store.get_states("s").get(f"memory_block:{name}")
    return [] if kept is None else kept.value["value"] or []


def spoken(one: Memory) -> list[str]:
    """The identities of all messages but system messages, in order."""
    return [message.id for message in one.chat_store.list_messages("s") if message.role is not MessageRole.SYSTEM]


def fallen(one: Memory) -> list[str]:
    """The identities of what a recall leaves out."""
    kept = sum(message.role is not MessageRole.SYSTEM for message in one.get())
    ids = spoken(one)
    return ids[: len(ids) - kept]


def warnings(program: Program[Any], llm: ScriptedLLM = LLM) -> list[tuple[str, str]]:
    notices = [event.notice for event in stream(program, llm) if isinstance(event, WarningRaised)]
    return [(notice.code, notice.details.get("block", "")) for notice in notices]


@given(
    history=HISTORIES,
    reads=st.lists(st.booleans(), min_size=14, max_size=14),
    limit=st.integers(20, 90),
    ahead=st.booleans(),
    shows=st.integers(0, 2),
)
def test_every_message_that_falls_out_is_taken_in_once_and_in_order(
    history: list[ChatMessage], reads: list[bool], limit: int, ahead: bool, shows: int
) -> None:
    block = RecordingBlock(ahead=ahead, shows=shows)
    one = memory(block, limit=limit)
    for message, read in zip(history, reads, strict=False):
        one.put(message)
        if read:
            one.get()
    left_out = set(fallen(one))
    turns = turns_of_talk(one.chat_store.list_messages("s"))
    newest = [message.id for turn in turns[-1:] for message in turn.messages]  # it may be cut, but has not fallen out
    taken = [message for batch in block.seen for message in batch]
    assert taken == spoken(one)[: len(taken)] == state(one)
    assert left_out - set(newest) <= set(taken)
    assert not set(newest) & set(taken)


@given(history=HISTORIES, limit=st.integers(20, 60), failures=st.lists(st.booleans(), min_size=14, max_size=14))
def test_a_block_that_fails_loses_nothing(history: list[ChatMessage], limit: int, failures: list[bool]) -> None:
    failing, sound = RecordingBlock("Failing"), RecordingBlock("Sound")
    one = memory(failing, sound, limit=limit)
    for message, fails in zip(history, failures, strict=False):
        one.put(message)
        failing.fail = fails
        assert tokens(one.get()) <= limit
    failing.fail = False
    one.get()
    assert state(one, "Failing") == state(one, "Sound")
    assert [message for batch in failing.seen for message in batch] == state(one, "Failing")


def test_a_failure_is_told_and_the_others_are_served() -> None:
    failing, sound = RecordingBlock("Failing", shows=1), RecordingBlock("Sound", shows=1)
    failing.fail = True
    one = memory(failing, sound, limit=400)
    one.set(talk(60))
    assert warnings(one.recall()) == [("memory_block_failed", "Failing")]
    assert "Sound:" in one.get()[0].content


def test_a_content_that_fails_is_told_and_the_others_are_served() -> None:
    class Broken(RecordingBlock):
        def content(self, state: Any, recollection: Recollection) -> Program[str]:
            raise KeyError("a mistake in a user's block")
            yield ()

    one = memory(Broken("Broken"), RecordingBlock("Sound", shows=1), limit=400)
    one.set(talk(60))
    assert warnings(one.recall()) == [("memory_block_failed", "Broken")]
    assert "Sound:" in one.get()[0].content


def test_a_block_that_asks_a_model_takes_turns_in_ahead_so_as_to_ask_seldom() -> None:
    eager, plain = RecordingBlock("Eager", ahead=True), RecordingBlock("Plain")
    one = memory(eager, plain, limit=300, token_flush_size=100)
    for number in range(60):
        one.put_messages(talk(1, begin=number))
        one.get()
    left_out = fallen(one)
    assert state(one, "Plain") == left_out
    assert state(one, "Eager")[: len(left_out)] == left_out
    assert len(eager.seen) * 4 < len(plain.seen)


def test_the_newest_turn_is_never_taken_in() -> None:
    block = RecordingBlock(ahead=True)
    one = memory(block, limit=20, token_flush_size=10_000)
    one.set([user("word " * 50), assistant("word " * 50)])
    one.get()
    assert block.seen == []


def test_another_memory_on_the_same_store_goes_on_where_the_first_stopped() -> None:
    store, block = SimpleChatStore(), RecordingBlock()
    first = memory(block, store=store)
    for number in range(6):
        first.put_messages(talk(1, begin=number))
        first.get()
    second = memory(RecordingBlock(), store=store)
    second.put_messages(talk(3, begin=6))
    second.get()
    taken = state(second)
    assert taken == spoken(second)[: len(taken)]
    assert len(taken) > sum(map(len, block.seen))


def test_of_two_recalls_at_once_one_is_kept() -> None:
    class Slow(RecordingBlock):
        meanwhile: Any = None

        def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[list[str]]:
            if self.meanwhile is not None:
                call, Slow.meanwhile = Slow.meanwhile, None
                yield from perform(Perform("meanwhile", call, call))
            return (yield from super().absorb(state, messages, session_id))

    store, block = SimpleChatStore(), Slow()
    one = memory(block, store=store)
    one.set(talk(10))
    Slow.meanwhile = lambda: memory(block, store=store).get()
    one.get()
    taken = state(one)
    assert len(set(taken)) == len(taken)
    assert taken == spoken(one)[: len(taken)]
    assert set(fallen(one)) <= set(taken)


def test_open_turns_wait_until_they_are_whole_and_empty_ones_are_passed_over() -> None:
    block = RecordingBlock()
    one = memory(block)
    one.put_messages(talk(1))
    one.begin_turn(user("fails")).interrupt("no server")
    turn = one.begin_turn(user("long one"))
    one.put_messages(talk(8, begin=1))
    one.get()
    ids = spoken(one)
    assert state(one) == ids[:2]  # what stands behind the open turn waits with it
    turn.finish("done")
    one.get()
    assert state(one)[:4] == [*ids[:2], *ids[4:6]]
    assert len(set(state(one))) == len(state(one))


def test_a_conversation_that_was_replaced_is_taken_in_anew() -> None:
    block = RecordingBlock()
    one = memory(block)
    one.set(talk(8))
    one.get()
    assert state(one)
    one.set(talk(9, begin=20))
    one.get()
    assert state(one) == fallen(one)
    one.reset()
    assert one.get() == []
    assert state(one) == []


def test_a_conversation_cut_back_behind_what_was_taken_in_is_taken_in_anew() -> None:
    one = memory(RecordingBlock())
    one.set(talk(8))
    one.get()
    one.chat_store.truncate_after("s", spoken(one)[1])
    one.put_messages(talk(8, begin=30))
    one.get()
    assert state(one) == fallen(one)


def test_what_a_block_holds_of_a_conversation_that_is_gone_is_not_shown() -> None:
    one = memory(RecordingBlock(shows=1), limit=400)
    one.set(talk(60))
    assert "Recorded:" in one.get()[0].content
    one.chat_store.truncate_after("s", spoken(one)[1])
    assert one.get() == talk(1)


def test_recalling_an_earlier_moment_changes_nothing_of_what_the_blocks_hold() -> None:
    one = memory(RecordingBlock())
    one.set(talk(20))
    one.get()
    taken = state(one)
    assert run(one.recall(before=spoken(one)[4]), LLM) == talk(2)
    assert state(one) == taken


def test_a_fork_goes_on_with_what_the_blocks_hold() -> None:
    block = RecordingBlock()
    one = memory(block)
    one.set(talk(8))
    one.get()
    before = len(block.seen)
    fork = one.chat_store.fork_session("s", spoken(one)[-1])
    other = Memory(fork.id, chat_store=one.chat_store, memory_blocks=[block], token_limit=60, llm=LLM)
    assert other.get() == one.get()
    assert len(block.seen) == before


def test_much_at_once_is_taken_in_by_batches_and_what_was_kept_stays() -> None:
    class FailsLater(RecordingBlock):
        def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[list[str]]:
            self.fail = len(self.seen) == 3
            return super().absorb(state, messages, session_id)

    block = FailsLater()
    one = memory(block, limit=100)
    one.set(talk(100))
    one.get()
    assert [len(batch) > 1 for batch in block.seen] == [True] * 3
    assert state(one) == [message for batch in block.seen for message in batch]


class AskingBlock(BaseMemoryBlock):
    """Keeps what the model says of each batch."""

    asks_model = True

    def content(self, state: Any, recollection: Recollection) -> Program[str]:
        return " ".join(state or [])
        yield ()

    def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[list[str]]:
        completion = yield from ask(LLMCall("note", (messages[0].message,), visible=False))
        return [*(state or []), completion.text]


def test_a_plan_counts_the_blocks_calls_and_keeps_nothing() -> None:
    one = memory(AskingBlock("Asking"))
    one.set(talk(10))
    planned = plan(one.recall(), LLM)
    assert planned.by_stage["note"] >= 1
    assert one.chat_store.get_states("s") == {}
    llm = ScriptedLLM("noted")
    run(one.recall(), llm)
    assert 1 <= len(llm.prompts) <= planned.by_stage["note"]
    assert state(one, "Asking") == ["noted"] * len(llm.prompts)


def test_a_block_with_a_model_of_its_own_asks_that_one() -> None:
    own = ScriptedLLM("from its own model")
    one = memory(AskingBlock("Asking", llm=own))
    one.set(talk(10))
    planned = plan(one.recall(), LLM)
    assert planned.open_steps
    assert set(planned.open_steps) == {"Asking"}
    assert one.chat_store.get_states("s") == {}
    asyncio.run(one.aget())
    assert own.prompts
    assert set(state(one, "Asking")) == {"from its own model"}


def test_settling_takes_in_ahead_of_the_next_recall() -> None:
    block = RecordingBlock()
    one = memory(block)
    one.set(talk(10))
    run(one.settle(), LLM)
    settled = list(block.seen)
    one.get()
    assert block.seen == settled
    assert run(memory().settle(), LLM) is None
