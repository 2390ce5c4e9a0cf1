"""A session as a document."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.memory.support import user

from responsa.memory import Memory, SimpleChatStore, aexport_session, export_session
from responsa.schema.errors import InvalidOption, SessionNotFound
from responsa.schema.messages import ChatMessage, ImageBlock, TextBlock
from responsa.schema.stored import StoredMessage

SOURCES = [
    {
        "node_id": "n1",
        "score": 0.5,
        "text": "…",
        "metadata": {"title": "Heaps [1]", "file_name": "heaps.pdf", "page": 3},
    },
    {"node_id": "n2", "score": None, "metadata": {}},
    "odd",
]
EXPECTED = """\
# What is a \\*heap\\*?

1970-01-01 00:01 UTC

## User · 1970-01-01 00:01 UTC

What is a *heap*?

## Assistant · 1970-01-01 00:02 UTC

A tree [1].

```python
heap = []
```

Sources:

1. Heaps \\[1\\], heaps.pdf, p. 3
2. -
3. -

## User · 1970-01-01 00:03 UTC

And this?

*(picture)*

## Assistant · 1970-01-01 00:04 UTC

It

*Interrupted: the \\<server\\> is gone*
"""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> SimpleChatStore:
    monkeypatch.setattr("time.time", lambda: 60.0)
    store = SimpleChatStore()
    asked = StoredMessage(user("What is a *heap*?"), id="q", created=60.0)
    answer = StoredMessage(
        ChatMessage("assistant", "A tree [1].\n\n```python\nheap = []\n```"),
        id="a",
        turn="q",
        created=120.0,
        reasoning="First,\nthink.",
        extra={"sources": SOURCES},
    )
    picture = ChatMessage(
        "user", blocks=[TextBlock("And this?"), ImageBlock(image=b"\x00", image_mimetype="image/png")]
    )
    broken = StoredMessage(
        ChatMessage("assistant", "It"), status="interrupted", reason="the <server>\nis gone", created=240.0
    )
    store.add_messages("s", [asked, answer, StoredMessage(picture, created=180.0), broken])
    return store


def test_a_session_is_exported_as_markdown(store: SimpleChatStore) -> None:
    assert export_session(store, "s") == EXPECTED == asyncio.run(aexport_session(store, "s"))


def test_reasoning_is_shown_where_that_is_asked_for(store: SimpleChatStore) -> None:
    assert "think" not in export_session(store, "s")
    assert "Reasoning:\n\n> First,\n> think.\n\nA tree" in export_session(store, "s", reasoning=True)


def test_headings_are_in_chinese_where_that_is_asked_for(store: SimpleChatStore) -> None:
    shown = export_session(store, "s", language="zh")
    for word in ("## 用户 · ", "## 助手 · ", "来源:", "*(图片)*", "*已中断："):
        assert word in shown


def test_an_answer_that_is_being_written_says_so() -> None:
    memory = Memory("s")
    memory.begin_turn(user("Why?")).delta("Beca")
    assert export_session(memory.chat_store, "s").endswith("*Still being written.*\n")


@pytest.mark.parametrize("way", ["blocking", "asynchronous"])
def test_json_holds_all_that_is_stored(store: SimpleChatStore, way: str) -> None:
    text = export_session(store, "s", "json") if way == "blocking" else asyncio.run(aexport_session(store, "s", "json"))
    values = json.loads(text)
    assert values["session"] == {"id": "s", "title": "What is a *heap*?", "created": 60.0, "updated": 60.0}
    asked, answer, picture, broken = values["messages"]
    assert asked["message"] == {"role": "user", "blocks": [{"type": "text", "text": "What is a *heap*?"}]}
    assert (answer["turn"], answer["reasoning"], answer["extra"]["sources"]) == ("q", "First,\nthink.", SOURCES)
    assert picture["message"]["blocks"][1]["image"] == "AA=="
    assert (broken["status"], broken["reason"]) == ("interrupted", "the <server>\nis gone")


def test_any_text_can_be_exported() -> None:
    store = SimpleChatStore()
    store.add_message("\ud800", StoredMessage(user("\ud800\x00 你好"), created=float("inf")))
    for form in ("markdown", "json"):
        assert "你好" in export_session(store, "\ud800", form).encode("utf-8", "replace").decode()


def test_what_is_not_there_or_not_known_is_told(store: SimpleChatStore) -> None:
    with pytest.raises(SessionNotFound):
        export_session(store, "unknown")
    with pytest.raises(SessionNotFound):
        asyncio.run(aexport_session(store, "unknown"))
    with pytest.raises(InvalidOption, match="form"):
        export_session(store, "s", "pdf")
