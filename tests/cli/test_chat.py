"""A conversation in the terminal: what is answered, what is kept, and what else one can type."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.cli.memory_parts import MemoryParts, Run

from responsa.cli.chat_lines import MAX_LINE_BYTES
from responsa.memory import Memory, SimpleChatStore, SQLAlchemyChatStore
from responsa.schema.errors import ServerUnreachable
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM

QUESTION = "How many books can a member borrow?"
FOLLOW_UP = "And for how long?"
REWRITTEN = "How long can a member borrow books?"


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where conversations are kept."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("RESPONSA_CHATS", raising=False)
    return tmp_path / "data" / "responsa"


def script(messages: Sequence[ChatMessage]) -> str:
    asked = messages[-1].content
    if "Standalone question:" in asked:
        return REWRITTEN
    return "The loan lasts three weeks." if FOLLOW_UP in asked else "A member can borrow up to eight books."


def over_an_index() -> MemoryParts:
    return MemoryParts(ScriptedLLM(script))


INDEX = ("--index", "shelf", "--session", "s")


def spoken(store: SimpleChatStore | SQLAlchemyChatStore, session: str = "s") -> list[tuple[str, str, str]]:
    return [(one.role.value, one.content, one.status) for one in Memory(session, chat_store=store).recover()]


def test_messages_are_answered_with_citations_and_sources_like_a_question(responsa: Run, data: Path) -> None:
    done = responsa("chat", *INDEX, parts=over_an_index(), stdin=f"{QUESTION}\n\n{FOLLOW_UP}\n".encode())
    assert done.code == 0
    first, second = done.out.split("\n\n", 1)[0], done.out.rpartition("[n*]")[0]
    assert first == "A member can borrow up to eight books. [1*]"
    assert "The loan lasts three weeks. [" in second
    assert done.out.count("\nSources\n") == 2
    assert "“The loan lasts three weeks.”" in done.out
    assert "Found 3 passages from 3 documents, 1 call planned" in done.err
    assert f"Searching with: {REWRITTEN}\n" in done.err
    assert "A new conversation, s." in done.err
    assert "responsa chat --session s" in done.err
    assert [(role, status) for role, _, status in spoken(SimpleChatStore(data / "chats.jsonl"))] == [
        ("user", "complete"),
        ("assistant", "complete"),
    ] * 2


def test_without_an_index_the_model_alone_answers(responsa: Run) -> None:
    llm = ScriptedLLM(["Hello.", "Eight."])
    done = responsa("chat", parts=MemoryParts(llm), stdin=b"Hi!\nHow many?\n")
    assert (done.code, done.out) == (0, "Hello.\n\nEight.\n\n")
    assert "There is no index here" in done.err
    assert [message.content for message in llm.prompts[1]] == ["Hi!", "Hello.", "How many?"]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--index", "missing"), 1, "responsa ingest PATH --index missing"),
        (("--index", "empty"), 1, "empty"),
        (("--mode", "best", "--index", "missing"), 1, "missing"),
        (("--mode", "fast"), 2, "condense_plus_context"),
        (("--mode", "react"), 2, "condense_plus_context"),
        (("--store", "no/such/place/chats.jsonl"), 1, "no/such/place"),
    ],
)
def test_what_cannot_begin_says_why(responsa: Run, options: tuple[str, ...], code: int, says: str) -> None:
    done = responsa("chat", *options, stdin=b"Hi!\n")
    assert (done.code, done.out) == (code, "")
    assert says in done.err


def test_a_server_that_is_not_there_is_told_before_anything_is_asked(responsa: Run) -> None:
    class Gone(MemoryParts):
        def llm(self, choice: object) -> ScriptedLLM:
            raise ServerUnreachable("http://127.0.0.1:8080/v1")

    done = responsa("chat", parts=Gone(), stdin=b"Hi!\n")
    assert done.code == 1
    assert "conversation" not in done.err


def test_a_conversation_goes_on_where_it_was_left(responsa: Run) -> None:
    responsa("chat", *INDEX, parts=over_an_index(), stdin=QUESTION.encode())
    parts = over_an_index()
    done = responsa("chat", *INDEX, parts=parts, stdin=f"/sources\n/trace\n{FOLLOW_UP}".encode())
    assert "The conversation s goes on: 2 messages so far." in done.err
    assert done.out.startswith("\nSources\n[1] Harbor Library\n    /shelf/harbor.md\n[2] ")
    assert "are not kept" in done.err
    assert isinstance(parts.scripted, ScriptedLLM)
    assert QUESTION in parts.scripted.prompts[0][-1].content
    assert "responsa chat --session s" in done.err


def test_conversations_are_listed_newest_first(responsa: Run) -> None:
    assert "No conversation is kept in" in responsa("chat", "--list").err
    for name, words in (("first", "Hi!"), ("第二", "你好！\x1b[31m")):
        responsa("chat", "--session", name, stdin=words.encode())
    responsa("chat", stdin=b"")  # nothing said: nothing kept
    rows = responsa("chat", "--list").out.splitlines()
    assert [row.split()[0] for row in rows] == ["session", "第二", "first"]
    assert rows[1].endswith("  你好！[31m")


@pytest.mark.parametrize("name", ["chats.jsonl", "chats.db"])
def test_conversations_are_kept_where_one_says(
    responsa: Run, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    responsa("chat", "--store", name, "--session", "s", stdin=b"Hi!")
    monkeypatch.setenv("RESPONSA_CHATS", name)
    assert "goes on: 2 messages" in responsa("chat", "--session", "s", stdin=b"Hi again!").err
    store = SimpleChatStore(tmp_path / name) if name.endswith("jsonl") else SQLAlchemyChatStore(tmp_path / name)
    assert [role for role, _, _ in spoken(store)] == ["user", "assistant"] * 2
    if isinstance(store, SQLAlchemyChatStore):
        store.close()


def test_the_users_own_place_is_for_the_user_alone(responsa: Run, data: Path) -> None:
    responsa("chat", stdin=b"Hi!")
    assert data.stat().st_mode & 0o777 == 0o700
    assert (data / "chats.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_failed_answer_is_told_and_the_conversation_goes_on(responsa: Run, data: Path) -> None:
    answers = {"One?": ServerUnreachable("http://x"), "Two?": "Two."}
    llm = ScriptedLLM(lambda messages: answers[messages[-1].content])
    done = responsa("chat", "--session", "s", parts=MemoryParts(llm), stdin=b"One?\nTwo?\n")
    assert (done.code, done.out) == (1, "Two.\n\n")
    assert done.err.count("Error: ") == 1
    assert spoken(SimpleChatStore(data / "chats.jsonl")) == [
        ("user", "One?", "complete"),
        ("assistant", "", "interrupted"),
        ("user", "Two?", "complete"),
        ("assistant", "Two.", "complete"),
    ]


def test_how_answers_are_generated_and_begun(responsa: Run) -> None:
    llm = ScriptedLLM("one two three")
    done = responsa("chat", "--max-tokens", "3", "--system", "Be brief.", parts=MemoryParts(llm), stdin=b"Count.")
    assert done.out == "one two\n\n"
    assert "limit of 3 tokens" in done.err
    assert llm.prompts[0][0] == ChatMessage("system", "Be brief.")


def test_a_line_that_is_too_long_is_one_message_and_refused(responsa: Run, data: Path) -> None:
    done = responsa("chat", stdin=b"x" * (MAX_LINE_BYTES + 10) + b"\nHi!\n")
    assert done.code == 1
    assert done.err.count("Error: ") == 1
    assert done.out.count("books") == 1


def test_odd_bytes_are_shown_and_stored_as_such(responsa: Run, data: Path) -> None:
    assert responsa("chat", "--session", "s", stdin=b"caf\xe9?\r\n").code == 0
    assert spoken(SimpleChatStore(data / "chats.jsonl"))[0][1] == "caf�?"


def test_the_plan_of_a_question_and_of_the_last_answer(responsa: Run) -> None:
    parts = over_an_index()
    lines = f"/plan\n{QUESTION}\n/plan\n/plan {FOLLOW_UP}\n/plan Hi!\n"
    done = responsa("chat", *INDEX, parts=parts, stdin=lines.encode())
    plans = [line for line in done.out.splitlines() if "call planned" in line or "calls planned" in line]
    assert [plan.split(" planned")[0] for plan in plans] == ["1 call", "at most 2 calls", "1 call"]
    rows = [line.split() for line in done.out.splitlines() if line[:4].strip().isdigit()]
    assert [row[1] for row in rows] == ["answer", "condense", "answer", "answer"]
    assert isinstance(parts.scripted, ScriptedLLM)
    assert len(parts.scripted.prompts) == 1
    assert "There is no answer yet." in done.err


def test_the_sources_and_calls_of_the_last_answer(responsa: Run) -> None:
    lines = f"/sources\n/trace\n{QUESTION}\n/sources\n/trace\n/mode simple\nAnd you?\n/sources\n"
    done = responsa("chat", *INDEX, parts=over_an_index(), stdin=lines.encode())
    assert done.code == 1
    assert done.err.count("There is no answer yet.") == 1
    assert done.out.count("“A member can borrow up to eight books.”") == 2
    assert "\nCalls\n" in done.out
    assert "The last answer has no sources." in done.err


def test_modes_are_shown_and_changed_and_one_that_cannot_be_leaves_all_as_it_was(responsa: Run) -> None:
    parts = over_an_index()
    lines = "/mode\n/mode context\n/mode fast\n/mode openai\n/mode\n"
    done = responsa("chat", *INDEX, parts=parts, stdin=lines.encode())
    shown = [line.split(".")[0] for line in done.err.splitlines() if ". There are: " in line]
    assert shown == ["Mode best", "Mode context", "Mode context"]
    assert done.err.count("Error: ") == 2
    without = responsa("chat", "--mode", "simple", "--index", "missing", stdin=b"/mode context\n/mode\n")
    assert "Mode simple. There are: simple, condense_question, context, condense_plus_context, best" in without.err
    assert "responsa ingest PATH --index missing" in without.err


def test_a_reset_empties_the_conversation(responsa: Run, data: Path) -> None:
    llm = ScriptedLLM(["Hello.", "Who are you?"])
    responsa("chat", "--session", "s", parts=MemoryParts(llm), stdin=b"I am Ann.\n/reset\nWho am I?\n")
    assert [message.content for message in llm.prompts[-1]] == ["Who am I?"]
    assert len(spoken(SimpleChatStore(data / "chats.jsonl"))) == 2


def test_a_conversation_is_exported(responsa: Run, tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("mine")
    lines = f"/export\n{QUESTION}\n/export a.md\n/export a.json\n/export there.md\n/export no/such/a.md\n/export\n"
    done = responsa("chat", *INDEX, parts=over_an_index(), stdin=lines.encode())
    markdown = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert markdown.startswith(f"# {QUESTION}\n")
    assert "1. Harbor Library" in markdown
    assert done.out.endswith(markdown)
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["session"]["id"] == "s"
    assert (tmp_path / "there.md").read_text() == "mine"
    assert "there.md is there already." in done.err
    assert "no/such/a.md: No such file" in done.err
    assert "There is no answer yet." in done.err


@pytest.mark.parametrize("language", ["en", "zh"])
def test_help_lists_every_command_in_the_language_spoken(responsa: Run, language: str) -> None:
    done = responsa("chat", "--lang", language, stdin=b"/help\n/quit\nnever asked\n")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert names == ["/plan", "/sources", "/trace", "/reset", "/mode", "/export", "/help", "/quit"]
    assert ("对话" in done.out) is (language == "zh")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/plann", "no command /plann"),
        ("/reset now", "/reset takes nothing"),
        ("/EXIT", "/help lists"),
        ("/q", "/help"),
    ],
)
def test_what_is_no_command_is_told_and_not_asked(responsa: Run, line: str, says: str) -> None:
    llm = ScriptedLLM("never")
    done = responsa("chat", parts=MemoryParts(llm), stdin=line.encode())
    assert llm.prompts == []
    assert says in done.err


@pytest.mark.parametrize("line", ["/etc/hosts: what is it?", " /help", "/ is a slash", "//help", "5/6?"])
def test_a_message_may_begin_with_a_path_or_a_blank(responsa: Run, line: str) -> None:
    llm = ScriptedLLM("A file.")
    responsa("chat", parts=MemoryParts(llm), stdin=line.encode())
    assert [prompt[-1].content for prompt in llm.prompts] == [line]
