"""The writing of a turn: what is stored, and when."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from tests.memory.support import Way, assistant, texts, user

from responsa.memory import Memory, SimpleChatStore, Turn
from responsa.memory.turns import FLUSH_SECONDS
from responsa.memory.writers import GIVEN_UP_AFTER, is_gone, is_of_this_process, new_writer
from responsa.programs import run
from responsa.schema.errors import ChatStoreUnavailable
from responsa.schema.messages import ChatMessage
from responsa.schema.stored import MessageStatus, StoredMessage


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class WatchedStore(SimpleChatStore):
    """Counts writes, and fails when told to."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[StoredMessage] = []
        self.broken = False

    def replace_message(
        self, session_id: str, message: StoredMessage, *, expected: MessageStatus | None = None
    ) -> bool:
        if self.broken:
            raise ChatStoreUnavailable("here", "the disk is full")
        self.writes.append(message)
        return super().replace_message(session_id, message, expected=expected)

    async def areplace_message(
        self, session_id: str, message: StoredMessage, *, expected: MessageStatus | None = None
    ) -> bool:
        await asyncio.sleep(0)
        return self.replace_message(session_id, message, expected=expected)


@pytest.fixture(params=["blocking", "asynchronous"])
def way(request: pytest.FixtureRequest) -> Iterator[Way]:
    if request.param == "blocking":
        yield Way(None)
        return
    with asyncio.Runner() as loop:
        yield Way(loop)


@pytest.fixture
def store() -> WatchedStore:
    return WatchedStore()


@pytest.fixture
def memory(store: WatchedStore) -> Memory:
    return Memory("s", chat_store=store)


def rows(memory: Memory) -> list[tuple[str, str, str]]:
    return [(one.content, one.status, one.reason) for one in memory.chat_store.list_messages("s")]


def test_the_message_is_stored_before_anything_else(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    assert rows(memory) == [("Why?", "complete", ""), ("", "partial", "")]
    asked, answer = memory.chat_store.list_messages("s")
    assert asked == turn.user
    assert answer.turn == asked.id
    assert is_of_this_process(answer.writer)
    assert not turn.ended


def test_a_finished_answer_is_stored_once_with_all_that_belongs_to_it(
    way: Way, memory: Memory, store: WatchedStore
) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    way(turn, "delta", reasoning="Hm. ")
    way(turn, "delta", "Beca")
    way(turn, "delta", "use.")
    way(turn, "finish", extra={"sources": [{"page": 3}]})
    way(turn, "finish", "again")
    way(turn, "interrupt", "late")
    way(turn, "delta", "more")
    assert len(store.writes) == 1
    answer = memory.chat_store.list_messages("s")[1]
    assert answer == turn.answer
    assert (answer.content, answer.status, answer.reasoning, answer.writer) == ("Because.", "complete", "Hm. ", "")
    assert answer.extra == {"sources": [{"page": 3}]}
    assert turn.ended


def test_the_whole_text_may_be_given_at_the_end(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    way(turn, "delta", "draft", reasoning="some")
    way(turn, "finish", "The answer.", "all of it")
    answer = memory.chat_store.list_messages("s")[1]
    assert (answer.content, answer.reasoning) == ("The answer.", "all of it")


def test_a_replaced_draft_is_gone(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    way(turn, "delta", "draft")
    way(turn, "replace", "Better")
    way(turn, "delta", " still")
    assert turn.answer.content == "Better still"
    way(turn, "interrupt")
    assert rows(memory)[1] == ("Better still", "interrupted", "closed")


def test_what_was_delivered_is_kept_with_the_reason_it_broke_off(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    way(turn, "delta", "Beca", reasoning="Hm.")
    way(turn, "interrupt", "the server is gone", {"outcome": "none"})
    way(turn, "finish", "Because.")
    answer = memory.chat_store.list_messages("s")[1]
    assert (answer.content, answer.status, answer.reason) == ("Beca", "interrupted", "the server is gone")
    assert (answer.reasoning, answer.extra) == ("Hm.", {"outcome": "none"})


def begun(memory: Memory, clock: Clock) -> Turn:
    turn = memory.begin_turn(user("Why?"))
    return Turn(memory.chat_store, "s", turn.user, turn.answer, clock=clock)


def test_text_is_flushed_at_most_one_flush_behind(way: Way, memory: Memory, store: WatchedStore) -> None:
    clock = Clock()
    turn = begun(memory, clock)
    delivered = ""
    for step in range(100):
        clock.now = step * 0.03
        way(turn, "delta", f"{step} ")
        delivered += f"{step} "
        stored = memory.chat_store.list_messages("s")[1]
        assert stored.status == "partial"
        missing = delivered.removeprefix(stored.content).split()
        assert (len(missing) - 1) * 0.03 < FLUSH_SECONDS
    assert len(store.writes) <= 100 * 0.03 / FLUSH_SECONDS


def test_a_flush_that_fails_does_not_stop_the_answer(way: Way, memory: Memory, store: WatchedStore) -> None:
    clock = Clock()
    turn = begun(memory, clock)
    store.broken = True
    for clock.now in (1.0, 2.0):
        way(turn, "delta", "a")
    store.broken = False
    clock.now = 3.0
    way(turn, "delta", "a")
    assert rows(memory)[1] == ("aaa", "partial", "")


def test_an_end_that_cannot_be_stored_is_raised_and_can_be_tried_again(
    way: Way, memory: Memory, store: WatchedStore
) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    store.broken = True
    for end in ("finish", "interrupt"):
        with pytest.raises(ChatStoreUnavailable):
            way(turn, end)
        assert not turn.ended
    store.broken = False
    way(turn, "finish", "Because.")
    assert rows(memory)[1] == ("Because.", "complete", "")


def test_an_odd_value_beside_the_answer_does_not_cost_the_answer(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    way(turn, "finish", "Because.", extra={"when": date(2024, 5, 1), 1: {2}, "score": float("nan"), "pair": (1, None)})
    expected = {"when": "2024-05-01", "1": [2], "score": None, "pair": [1, None]}
    assert memory.chat_store.list_messages("s")[1].extra == expected


@pytest.mark.parametrize("reason", ["closed", "the server is gone"])
def test_a_retry_goes_on_with_its_turn(way: Way, memory: Memory, reason: str) -> None:
    way(way(memory, "begin_turn", user("Why?")), "interrupt", reason)
    second = way(memory, "begin_turn", user("Why?"))
    way(second, "delta", "Beca")
    way(second, "interrupt", "closed")
    third = way(memory, "begin_turn", user("Why?"))
    assert rows(memory) == [("Why?", "complete", ""), ("", "partial", "")]
    way(third, "finish", "Because.")
    assert rows(memory) == [("Why?", "complete", ""), ("Because.", "complete", "")]
    (kept,) = memory.chat_store.list_messages("s")[1].extra["earlier"]
    assert (kept["text"], kept["reason"]) == ("Beca", "closed")


def test_a_message_without_an_answer_is_not_doubled(way: Way, memory: Memory) -> None:
    memory.put(user("Why?"))
    way(way(memory, "begin_turn", user("Why?")), "finish", "Because.")
    assert rows(memory) == [("Why?", "complete", ""), ("Because.", "complete", "")]


def test_regenerating_is_truncating_and_asking_again(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    way(turn, "finish", "Because.")
    memory.chat_store.truncate_after("s", turn.user.id)
    way(way(memory, "begin_turn", user("Why?")), "finish", "Therefore.")
    assert texts(memory.get_all()) == ["Why?", "Therefore."]


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("finish", "Why?"),  # the same question after a whole answer is a new one
        ("interrupt", "Why not?"),
    ],
)
def test_anything_else_is_a_turn_of_its_own(way: Way, memory: Memory, first: str, again: str) -> None:
    way(way(memory, "begin_turn", user("Why?")), first)
    way(way(memory, "begin_turn", user(again)), "finish")
    assert texts(memory.get_all()) == ["Why?", "", again, ""]


def test_of_two_retries_at_once_each_has_its_own_answer(way: Way, memory: Memory) -> None:
    way(way(memory, "begin_turn", user("Why?")), "interrupt")
    turns = [way(memory, "begin_turn", user("Why?")) for _ in range(2)]
    for number, turn in enumerate(turns):
        way(turn, "finish", f"answer {number}")
    assert texts(memory.get_all()) == ["Why?", "answer 0", "Why?", "answer 1"]


def test_a_cancelled_task_still_stores_how_its_answer_ended(memory: Memory) -> None:
    async def answering(turn: Turn, started: asyncio.Event) -> None:
        try:
            await turn.adelta("Beca")
            started.set()
            await asyncio.Event().wait()
        finally:
            await turn.ainterrupt("closed")

    async def main() -> None:
        turn = await memory.abegin_turn(user("Why?"))
        started = asyncio.Event()
        task = asyncio.ensure_future(answering(turn, started))
        await started.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # again, while it is storing
        await asyncio.wait([task])

    asyncio.run(main())
    assert rows(memory)[1] == ("Beca", "interrupted", "closed")


def left_by(writer: str, created: float, memory: Memory) -> None:
    memory.chat_store.add_messages(
        "s",
        [
            StoredMessage(user("Why?"), id="q"),
            StoredMessage(assistant("Beca"), id="a", turn="q", status="partial", writer=writer, created=created),
        ],
    )


def finished_process() -> str:
    """The name of a process that is gone."""
    asking = "from responsa.memory.writers import new_writer; print(new_writer())"
    return subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=True).stdout.strip()


def test_what_a_dead_process_left_is_marked_as_interrupted(way: Way, memory: Memory) -> None:
    left_by(finished_process(), 0.0, memory)
    recovered = way(memory, "recover")
    assert [(one.content, one.status, one.reason) for one in recovered] == rows(memory)
    assert rows(memory) == [("Why?", "complete", ""), ("Beca", "interrupted", "process_ended")]


def test_what_a_living_process_writes_is_left_alone(way: Way, memory: Memory) -> None:
    code = "from responsa.memory.writers import new_writer; print(new_writer(), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None
        left_by(one.stdout.readline().strip(), 0.0, memory)
        way(memory, "recover")
        assert rows(memory)[1] == ("Beca", "partial", "")
        one.communicate("\n")
    way(memory, "recover")
    assert rows(memory)[1] == ("Beca", "interrupted", "process_ended")


def test_what_this_process_still_writes_is_left_alone(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    assert way(memory, "recover")[1].status == "partial"
    other = way(memory, "begin_turn", user("Why?"))
    way(turn, "finish", "1")
    way(other, "finish", "2")
    assert texts(memory.get_all()) == ["Why?", "1", "Why?", "2"]


def test_what_nobody_in_this_process_goes_on_with_is_marked_as_interrupted(way: Way, memory: Memory) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    way(turn, "delta", "Beca")
    del turn  # such as by an exception that nobody caught
    gc.collect()
    assert way(memory, "recover")[1].reason == "closed"
    way(way(memory, "begin_turn", user("Why?")), "finish", "Because.")
    assert texts(memory.get_all()) == ["Why?", "Because."]


def test_a_turn_whose_end_could_not_be_stored_is_left_by_abandoning_it(
    way: Way, memory: Memory, store: WatchedStore
) -> None:
    turn = way(memory, "begin_turn", user("Why?"))
    store.broken = True
    with pytest.raises(ChatStoreUnavailable):
        way(turn, "interrupt", "the disk is full")
    turn.abandon()
    store.broken = False
    assert way(memory, "recover")[1].status == "interrupted"
    way(way(memory, "begin_turn", user("Why?")), "finish", "Because.")
    assert texts(memory.get_all()) == ["Why?", "Because."]


def test_the_next_turn_recovers_what_a_dead_process_left(way: Way, memory: Memory) -> None:
    left_by(finished_process(), 0.0, memory)
    way(way(memory, "begin_turn", user("And?")), "finish", "So.")
    assert texts(memory.get_all()) == ["Why?", "Beca", "And?", "So."]
    assert rows(memory)[1][1:] == ("interrupted", "process_ended")


def test_a_writer_is_told_from_its_successors() -> None:
    here = new_writer()
    machine, pid, start, number = here.rsplit("/", 3)
    assert int(pid) == os.getpid()
    assert new_writer() != here
    assert not is_gone(here, 0.0, 1e12)
    assert is_gone(f"{machine}/{pid}/{int(start) + 1}/0", 0.0, 0.0)  # another process under the same number
    for elsewhere in (f"elsewhere/{pid}/{start}/{number}", "", "nonsense", f"{machine}/x/{start}/0"):
        assert not is_gone(elsewhere, 0.0, GIVEN_UP_AFTER)
        assert is_gone(elsewhere, 0.0, GIVEN_UP_AFTER + 1)


def test_a_zombie_writes_no_more() -> None:
    code = "from responsa.memory.writers import new_writer; print(new_writer(), flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        writer = child.stdout.readline().strip()
        child.stdout.read()  # to the end of the process, which is not waited for yet
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert is_gone(writer, 0.0, 0.0)


def test_beginning_a_turn_is_a_part_of_a_program(memory: Memory) -> None:
    turn = run(memory.open_turn(ChatMessage("user", "Why?")))
    assert replace(memory.chat_store.list_messages("s")[0]) == turn.user


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_fork_of_the_process_is_a_writer_of_its_own() -> None:
    code = (
        "import os\n"
        "from responsa.memory.writers import is_of_this_process, new_writer\n"
        "parents = new_writer()\n"
        "if os.fork() == 0:\n"
        "    os._exit(is_of_this_process(parents) or not is_of_this_process(new_writer()))\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
