"""What every chat store must do, as tests: subclass `ChatStoreContract` and give it a store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from responsa.schema.errors import InvalidOption, MessageNotFound, SessionNotFound
from responsa.schema.messages import ChatMessage, ImageBlock, TextBlock
from responsa.schema.protocols import ChatStore
from responsa.schema.stored import SessionState, StoredMessage

HOSTILE = (
    "",
    " ",
    "\n",
    "../../etc/passwd",
    "'; DROP TABLE sessions; --",
    "a\x00b",
    "\ud800",
    "{session} %s $1 \\",
    "会话",
    "a\u0301",
    "\u00e1",
    "x" * 100_000,
)


class Way:
    """Calls a store's methods by one of their two forms.

    Args:
        store: The store.
        loop: The event loop the asynchronous forms run in; None for the blocking forms.
    """

    def __init__(self, store: ChatStore, loop: asyncio.Runner | None) -> None:
        self.store = store
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        if self._loop is None:
            return getattr(self.store, name)
        loop, method = self._loop, getattr(self.store, f"a{name}")

        async def made(*args: Any, **options: Any) -> Any:
            return await method(*args, **options)

        return lambda *args, **options: loop.run(made(*args, **options))


def said(text: str, role: str = "user", **fields: Any) -> StoredMessage:
    """Return a stored message of text."""
    return StoredMessage(ChatMessage(role, text), **fields)


def texts(messages: list[StoredMessage]) -> list[str]:
    """Return the texts of messages."""
    return [message.content for message in messages]


class ChatStoreContract:
    """The tests. A subclass gives a fixture `store`: an empty store, of which `another` may open a second."""

    def another(self, store: Any) -> ChatStore:
        """Return a second store on the same data, as another process has it; `store` itself if there can be none."""
        return store  # type: ignore[no-any-return]

    @pytest.fixture(params=["blocking", "asynchronous"])
    def way(self, request: pytest.FixtureRequest, store: ChatStore) -> Iterator[Way]:
        """Call the store by its blocking or its asynchronous methods."""
        if request.param == "blocking":
            yield Way(store, None)
            return
        with asyncio.Runner() as loop:
            yield Way(store, loop)

    def test_a_session_that_was_never_begun_has_nothing(self, way: Way) -> None:
        assert way.list_sessions() == []
        assert way.get_session("a") is None
        assert way.list_messages("a") == []
        assert way.get_states("a") == {}
        assert way.delete_session("a") is False
        way.delete_messages("a")
        assert way.list_sessions() == []

    def test_a_session_is_begun_once(self, way: Way) -> None:
        first = way.create_session("a", "A title")
        assert (first.id, first.title) == ("a", "A title")
        assert way.create_session("a", "Another") == first == way.get_session("a")
        assert way.create_session().id != way.create_session().id
        assert len(way.list_sessions()) == 3

    def test_a_message_comes_back_as_it_went_in(self, way: Way) -> None:
        image = ImageBlock(image=b"\x00\xff", image_mimetype="image/gif", detail="low")
        messages = [
            StoredMessage(
                ChatMessage("user", blocks=(TextBlock("look"), image, ImageBlock(url="https://example.org/a.png"))),
                id="1",
                created=12345.678901,
                extra={"sources": [{"title": "标题", "page": 3, "score": 0.25}], "none": None},
            ),
            StoredMessage(
                ChatMessage("assistant", "half", additional_kwargs={"name": "Ann", "deep": {"list": [1, 2.5, True]}}),
                turn="1",
                status="interrupted",
                reason="closed",
                reasoning="Let me see.",
            ),
            StoredMessage(ChatMessage("tool", ""), status="partial", writer="here/1/2"),
            StoredMessage(ChatMessage("system", blocks=())),
            *(said(text) for text in (*HOSTILE, "长" * 300_000)),
        ]
        assert way.add_messages("a", messages) == [message.id for message in messages]
        assert way.list_messages("a") == messages

    def test_plain_messages_are_stored_with_identities_of_their_own(self, way: Way) -> None:
        one = way.add_message("a", ChatMessage("user", "hello"))
        two, three = way.add_messages("a", [ChatMessage("user", "hello"), ChatMessage("assistant", "hi")])
        assert [message.id for message in way.list_messages("a")] == [one, two, three]
        assert len({one, two, three}) == 3
        assert way.get_messages("a")[2] == ChatMessage("assistant", "hi")

    def test_keys_may_be_any_text(self, way: Way) -> None:
        for number, key in enumerate(HOSTILE):
            way.add_message(key, said(f"message {number}", id=key))
            way.set_state(key, key, number, expected_version=0)
        for number, key in enumerate(HOSTILE):
            (message,) = way.list_messages(key)
            assert (message.id, message.content) == (key, f"message {number}")
            assert way.get_states(key) == {key: SessionState(number, 1)}
            assert way.get_session(key).id == key
            assert way.rename_session(key, key).title == key
        assert {session.id for session in way.list_sessions()} == set(HOSTILE)
        for key in HOSTILE:
            assert way.truncate_after(key, key, including=True) == 1
            assert way.delete_session(key) is True
        assert way.list_sessions() == []

    def test_messages_of_a_turn_stand_together(self, way: Way) -> None:
        way.add_messages("a", [said("q1", id="q1"), said("q2", id="q2")])
        way.add_message("a", said("a2", "assistant", turn="q2"))
        way.add_message("a", said("a1", "assistant", turn="q1"))
        way.add_messages("a", [said("q3", id="q3"), said("more1", "tool", turn="q1"), said("a3", "tool", turn="q3")])
        stored = way.list_messages("a")
        assert texts(stored) == ["q1", "a1", "more1", "q2", "a2", "q3", "a3"]
        assert [message.turn for message in stored] == ["", "q1", "q1", "", "q2", "", "q3"]

    def test_a_turn_that_no_message_begins_is_none(self, way: Way) -> None:
        way.add_messages("a", [said("q", id="q"), said("a", "assistant", id="a", turn="q"), said("next")])
        way.add_messages("a", [said("lost", turn="gone"), said("inner", turn="a")])
        stored = way.list_messages("a")
        assert texts(stored) == ["q", "a", "next", "lost", "inner"]
        assert [message.turn for message in stored] == ["", "q", "", "", ""]

    def test_a_replaced_message_keeps_its_place(self, way: Way) -> None:
        way.add_messages("a", [said("q", id="q"), said("", "assistant", id="a", turn="q", status="partial"), said("r")])
        whole = said("whole", "assistant", id="a", turn="elsewhere", extra={"n": 1})
        assert way.replace_message("a", whole, expected="complete") is False
        assert way.replace_message("a", whole, expected="partial") is True
        assert way.replace_message("a", whole, expected="partial") is False
        assert way.replace_message("a", replace(whole, reason="again")) is True
        assert texts(way.list_messages("a")) == ["q", "whole", "r"]
        assert way.list_messages("a")[1] == replace(whole, turn="q", reason="again")
        assert way.replace_message("a", said("x", id="unknown")) is False
        assert way.replace_message("unknown", whole) is False
        assert way.get_session("unknown") is None

    def test_an_identity_is_taken_once_a_session(self, way: Way) -> None:
        way.add_message("a", said("first", id="1"))
        for batch in ([said("x", id="2"), said("second", id="1")], [said("x", id="3"), said("y", id="3")]):
            with pytest.raises(InvalidOption):
                way.add_messages("a", batch)
        assert texts(way.list_messages("a")) == ["first"]
        way.add_message("b", said("elsewhere", id="1"))
        assert texts(way.list_messages("b")) == ["elsewhere"]

    @pytest.mark.parametrize("change", ["add", "begin", "set", "state"])
    def test_a_value_that_json_cannot_hold_is_refused_or_held(self, way: Way, change: str) -> None:
        way.add_message("a", said("first", id="1"))
        bad = said("bad", id="2", extra={"object": object()})
        try:
            if change == "add":
                way.add_messages("a", [said("x"), bad])
            elif change == "begin":
                way.add_message("new", bad)
            elif change == "set":
                way.set_messages("a", [bad])
            else:
                way.set_state("a", "s", object(), expected_version=0)
        except InvalidOption:  # then nothing is changed
            assert texts(way.list_messages("a")) == ["first"]
            assert way.get_session("new") is None
            assert way.get_states("a") == {}

    def test_setting_replaces_everything_the_session_holds(self, way: Way) -> None:
        way.add_messages("a", [said("old", id="1"), said("older", id="2")])
        way.set_state("a", "facts", ["old"], expected_version=0)
        way.set_messages("a", [said("new", id="2"), said("answer", "assistant", turn="2"), ChatMessage("user", "x")])
        assert texts(way.list_messages("a")) == ["new", "answer", "x"]
        assert way.get_states("a") == {}
        way.set_messages("a", [])
        assert way.list_messages("a") == []
        way.set_messages("b", [said("begun")])
        assert texts(way.list_messages("b")) == ["begun"]

    def test_deleting_messages_leaves_the_session(self, way: Way) -> None:
        way.add_message("a", said("hello"))
        way.set_state("a", "facts", 1, expected_version=0)
        way.delete_messages("a")
        assert way.list_messages("a") == []
        assert way.get_states("a") == {}
        assert way.get_session("a").title == "hello"

    def test_deleting_a_session_leaves_the_others(self, way: Way) -> None:
        for key in ("a", "b"):
            way.add_message(key, said(key, id="1"))
            way.set_state(key, "facts", key, expected_version=0)
        assert way.delete_session("a") is True
        assert way.list_messages("a") == []
        assert way.get_states("a") == {}
        assert texts(way.list_messages("b")) == ["b"]
        way.add_message("a", said("anew", id="1"))
        assert texts(way.list_messages("a")) == ["anew"]

    @pytest.mark.parametrize(
        ("message_id", "including", "left"),
        [
            ("a1", False, ["q1", "a1"]),
            ("q2", False, ["q1", "a1", "q2"]),
            ("q2", True, ["q1", "a1"]),
            ("a2", True, ["q1", "a1", "q2"]),
            ("q1", True, []),
            ("a3", False, ["q1", "a1", "q2", "a2", "q3", "a3"]),
        ],
    )
    def test_truncating_removes_what_follows(self, way: Way, message_id: str, including: bool, left: list[str]) -> None:
        way.add_messages("a", [said(f"q{n}", id=f"q{n}") for n in (1, 2, 3)])
        way.add_messages("a", [said(f"a{n}", "assistant", id=f"a{n}", turn=f"q{n}") for n in (3, 1, 2)])
        assert way.truncate_after("a", message_id, including=including) == 6 - len(left)
        assert texts(way.list_messages("a")) == left
        way.add_message("a", said("new"))
        assert texts(way.list_messages("a")) == [*left, "new"]

    def test_truncating_at_nothing_says_what_is_missing(self, way: Way) -> None:
        with pytest.raises(SessionNotFound):
            way.truncate_after("a", "1")
        way.add_message("a", said("hello", id="1"))
        way.add_message("b", said("there", id="2"))
        with pytest.raises(MessageNotFound):
            way.truncate_after("a", "2")
        assert texts(way.list_messages("a")) == ["hello"]

    def test_a_fork_goes_its_own_way(self, way: Way) -> None:
        way.add_messages("a", [said("q1", id="q1"), said("q2", id="q2"), said("a1", "assistant", id="a1", turn="q1")])
        way.set_state("a", "facts", ["x"], expected_version=0)
        fork = way.fork_session("a", "a1", title="A fork")
        assert fork.title == "A fork"
        assert fork.id not in ("a", "")
        assert way.list_messages(fork.id) == way.list_messages("a")[:2]
        assert way.get_states(fork.id) == {"facts": SessionState(["x"], 1)}
        way.add_messages(fork.id, [said("q3", id="q3"), said("more", "tool", turn="q1")])
        way.set_state(fork.id, "facts", ["y"], expected_version=1)
        assert texts(way.list_messages(fork.id)) == ["q1", "a1", "more", "q3"]
        assert texts(way.list_messages("a")) == ["q1", "a1", "q2"]
        assert way.get_states("a") == {"facts": SessionState(["x"], 1)}
        way.delete_session("a")
        assert texts(way.list_messages(fork.id)) == ["q1", "a1", "more", "q3"]

    def test_a_fork_of_a_partial_answer_is_an_interrupted_one(self, way: Way) -> None:
        way.add_messages("a", [said("q", id="q"), said("half", "assistant", id="a", status="partial", writer="w")])
        fork = way.fork_session("a", "a", "b")
        assert (fork.id, fork.title) == ("b", "q")
        assert [(one.status, one.reason, one.writer) for one in way.list_messages("b")] == [
            ("complete", "", ""),
            ("interrupted", "forked", ""),
        ]
        assert way.list_messages("a")[1].status == "partial"

    def test_a_fork_needs_a_message_and_a_free_key(self, way: Way) -> None:
        with pytest.raises(SessionNotFound):
            way.fork_session("a", "1")
        way.add_message("a", said("hello", id="1"))
        way.create_session("b", "taken")
        with pytest.raises(MessageNotFound):
            way.fork_session("a", "2")
        with pytest.raises(InvalidOption):
            way.fork_session("a", "1", "b")
        assert {session.id for session in way.list_sessions()} == {"a", "b"}
        assert way.list_messages("b") == []

    def test_a_session_takes_its_title_from_its_first_question(self, way: Way) -> None:
        way.add_messages("a", [said("Be brief.", "system"), said("  What is\n\na   heap? "), said("And a stack?")])
        assert way.get_session("a").title == "What is a heap?"
        way.add_message("b", said("word " * 100))
        assert len(way.get_session("b").title) <= 60
        way.create_session("c", "Given")
        way.add_message("c", said("hello"))
        assert way.get_session("c").title == "Given"

    def test_renaming_stays(self, way: Way) -> None:
        way.add_message("a", said("hello"))
        assert way.rename_session("a", "新标题").title == "新标题"
        way.add_message("a", said("more"))
        assert way.get_session("a").title == "新标题"
        with pytest.raises(SessionNotFound):
            way.rename_session("unknown", "x")

    def test_sessions_are_listed_last_written_first(self, way: Way) -> None:
        for key in ("a", "b", "c"):
            way.add_message(key, said(key))
        way.add_message("b", said("again"))
        assert [session.id for session in way.list_sessions()] == ["b", "c", "a"]
        assert [session.id for session in way.list_sessions(limit=1)] == ["b"]
        assert [session.id for session in way.list_sessions(limit=5, offset=2)] == ["a"]
        assert [session.id for session in way.list_sessions(offset=1)] == ["c", "a"]
        one = way.get_session("b")
        assert 0 < one.created <= one.updated

    @pytest.mark.parametrize("prefix", ["a/", "A/", "a%", "会话/", '"', "\ud800"])
    def test_sessions_are_listed_by_the_beginning_of_their_key(self, way: Way, prefix: str) -> None:
        for number in range(3):
            way.add_message(f"{prefix}{number}", said("hello"))
        for key in ("b/0", "0", "", "x" + prefix):
            way.add_message(key, said("hello"))
        listed = [session.id for session in way.list_sessions(prefix=prefix)]
        assert listed == [f"{prefix}{number}" for number in (2, 1, 0)]
        assert [session.id for session in way.list_sessions(1, 1, prefix=prefix)] == [f"{prefix}1"]
        assert way.list_sessions(prefix=prefix + "none") == []

    def test_a_state_is_written_only_over_the_version_that_was_read(self, way: Way) -> None:
        assert way.set_state("a", "facts", "early", expected_version=1) is False
        assert way.get_session("a") is None
        assert way.set_state("a", "facts", {"list": ["一"]}, expected_version=0) is True
        assert way.set_state("a", "facts", "other", expected_version=0) is False
        assert way.get_states("a") == {"facts": SessionState({"list": ["一"]}, 1)}
        assert way.set_state("a", "facts", None, expected_version=1) is True
        assert way.set_state("a", "summary", "s", expected_version=0) is True
        assert way.get_states("a") == {"facts": SessionState(None, 2), "summary": SessionState("s", 1)}

    def test_a_second_store_on_the_same_data_sees_every_change(self, way: Way) -> None:
        other = self.another(way.store)
        way.add_message("a", said("one", id="1"))
        assert texts(other.list_messages("a")) == ["one"]
        other.add_message("a", said("two", "assistant", turn="1"))
        other.set_state("a", "facts", 1, expected_version=0)
        assert texts(way.list_messages("a")) == ["one", "two"]
        assert way.set_state("a", "facts", 2, expected_version=0) is False
        other.truncate_after("a", "1")
        assert texts(way.list_messages("a")) == ["one"]
        way.delete_session("a")
        assert other.list_sessions() == []
