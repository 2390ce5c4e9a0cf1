"""Messages that wait for their turn: stored at once, answered in their place, never lost and never doubled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.memory.support import LLM, assistant, texts, user
from tests.memory.test_turns import finished_process, rows

from responsa.memory import Memory, SimpleChatStore, SQLAlchemyChatStore
from responsa.memory.queued import QueuedMessage
from responsa.programs import run
from responsa.schema.messages import ChatMessage, MessageRole
from responsa.schema.stored import StoredMessage


@pytest.fixture(params=["memory", "database"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    if request.param == "memory":
        yield Memory("s", chat_store=SimpleChatStore(), llm=LLM)
        return
    with SQLAlchemyChatStore(tmp_path / "chats.db") as store:
        yield Memory("s", chat_store=store, llm=LLM)


def queue(memory: Memory, text: str) -> QueuedMessage:
    queued = run(memory.queue_message(user(text)))
    assert queued is not None
    return queued


def opened(memory: Memory, text: str, queued: QueuedMessage | None) -> Any:
    return run(memory.open_turn(user(text), queued))


def test_what_waits_is_stored_and_answered_in_its_place(memory: Memory) -> None:
    first = memory.begin_turn(user("1?"))
    queued = [queue(memory, "2?"), queue(memory, "3?")]
    assert rows(memory) == [("1?", "complete", ""), ("", "partial", ""), ("2?", "partial", ""), ("3?", "partial", "")]
    first.finish("One.")
    assert texts(memory.get("?")) == ["1?", "One."]
    for text, waiting in zip(("2?", "3?"), queued, strict=True):
        turn = opened(memory, text, waiting)
        assert texts(run(memory.recall(before=turn.user.id), LLM)) == texts(memory.get_all())[: 2 * int(text[0]) - 2]
        turn.finish(f"To {text}")
    assert [(one.content, one.status) for one in memory.chat_store.list_messages("s")] == [
        (text, "complete") for text in ("1?", "One.", "2?", "To 2?", "3?", "To 3?")
    ]


@pytest.mark.parametrize("left", ["given up", "by a dead process", "by nobody"])
def test_what_never_had_its_turn_is_interrupted_left_out_and_can_be_asked_again(memory: Memory, left: str) -> None:
    memory.begin_turn(user("1?")).finish("One.")
    reason = "closed"
    if left == "by a dead process":
        reason = "process_ended"
        lost = StoredMessage(user("2?"), status="partial", writer=finished_process())
        memory.chat_store.add_messages("s", [lost])
    else:
        queued = queue(memory, "2?")
        if left == "given up":
            run(queued.give_up())
        del queued
    asked = memory.recover()[-1]
    assert (asked.content, asked.status, asked.reason) == ("2?", "interrupted", reason)
    assert texts(memory.get("?")) == ["1?", "One."]
    turn = memory.begin_turn(user("2?"))
    assert turn.user.id == asked.id
    turn.finish("Two.")
    assert rows(memory) == [(text, "complete", "") for text in ("1?", "One.", "2?", "Two.")]


def test_a_process_that_died_as_a_turn_began_leaves_one_that_can_be_asked_again(memory: Memory) -> None:
    gone = finished_process()
    question = StoredMessage(user("1?"), id="q", status="partial", writer=gone)
    answer = StoredMessage(assistant(""), id="q.answer", turn="q", status="partial", writer=gone)
    memory.chat_store.add_messages("s", [question, answer])
    memory.begin_turn(user("1?")).finish("One.")
    assert rows(memory) == [("1?", "complete", ""), ("One.", "complete", "")]
    assert texts(memory.get("?")) == ["1?", "One."]


def test_another_message_behind_one_that_never_had_its_turn_is_answered_without_it(memory: Memory) -> None:
    run(queue(memory, "1?").give_up())
    turn = memory.begin_turn(user("2?"))
    assert texts(run(memory.recall(before=turn.user.id), LLM)) == []
    turn.finish("Two.")
    assert texts(memory.get("?")) == ["2?", "Two."]
    assert rows(memory)[0] == ("1?", "interrupted", "closed")


def test_a_message_that_was_removed_before_its_turn_is_stored_anew(memory: Memory) -> None:
    first = memory.begin_turn(user("1?"))
    first.finish("One.")
    queued = queue(memory, "2?")
    memory.chat_store.truncate_after("s", first.user.id)
    opened(memory, "2?", queued).finish("Two.")
    assert texts(memory.get_all()) == ["1?", "2?", "Two."]


OPEN: dict[str, Callable[[Memory], object]] = {
    "it waits": lambda memory: queue(memory, "1?"),
    "it is being answered": lambda memory: memory.begin_turn(user("1?")),
    "its answer broke off": lambda memory: memory.begin_turn(user("1?")).interrupt("closed"),
    "it has no answer": lambda memory: memory.put(user("1?")),
}


@pytest.mark.parametrize("left_open", OPEN.values(), ids=OPEN)
def test_the_last_question_is_not_stored_twice_while_it_is_open(
    memory: Memory, left_open: Callable[[Memory], object]
) -> None:
    held = left_open(memory)
    assert run(memory.queue_message(user("1?"))) is None
    assert [one.content for one in memory.chat_store.list_messages("s") if one.role is MessageRole.USER] == ["1?"]
    del held
    opened(memory, "1?", None).finish("One.")
    assert texts(memory.get_all()) == ["1?", "One."]


def test_the_last_question_with_a_whole_answer_is_another_one(memory: Memory) -> None:
    memory.begin_turn(user("1?")).finish("One.")
    opened(memory, "1?", queue(memory, "1?")).finish("One again.")
    assert texts(memory.get_all()) == ["1?", "One.", "1?", "One again."]


class Recalling(SimpleChatStore):
    """Notes what is recalled of the session after every change."""

    def __init__(self) -> None:
        super().__init__()
        self.recalled: list[list[str]] = []

    def add_messages(self, session_id: str, messages: Any) -> list[str]:
        ids = super().add_messages(session_id, messages)
        self.recalled.append(texts(Memory(session_id, chat_store=self, llm=LLM).get("?")))
        return ids

    def replace_message(self, session_id: str, message: StoredMessage, **expected: Any) -> bool:
        done = super().replace_message(session_id, message, **expected)
        self.recalled.append(texts(Memory(session_id, chat_store=self, llm=LLM).get("?")))
        return done


def test_nobody_recalls_a_question_without_its_answer_at_any_time() -> None:
    store = Recalling()
    memory = Memory("s", chat_store=store, llm=LLM)
    opened(memory, "1?", queue(memory, "1?")).finish("One.")
    run(queue(memory, "2?").give_up())
    opened(memory, "2?", None).finish("Two.")
    whole = ["1?", "One.", "2?", "Two."]
    assert [] in store.recalled
    assert all(recalled in ([], whole[:2], whole) for recalled in store.recalled)


class QuickOther(SimpleChatStore):
    """Another process answers a message as soon as its turn has begun here."""

    def add_messages(self, session_id: str, messages: Any) -> list[str]:
        answer = messages[0]
        if isinstance(answer, StoredMessage) and answer.id.endswith(".answer"):
            other = StoredMessage(ChatMessage("assistant", "Theirs."), id=answer.id, turn=answer.turn)
            super().add_messages(session_id, [other])
        return super().add_messages(session_id, messages)


def test_where_another_process_is_quicker_each_has_its_own_answer() -> None:
    memory = Memory("s", chat_store=QuickOther(), llm=LLM)
    opened(memory, "1?", queue(memory, "1?")).finish("Ours.")
    assert texts(memory.get_all()) == ["1?", "Theirs.", "1?", "Ours."]
