"""A database that cannot be used, at the start or later: told of everywhere, and nothing is lost with "success"."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.support import ANSWER, QUESTION, SteppedLLM, a_service, events_of, in_process, on_a_socket

from responsa.memory import SQLAlchemyChatStore
from responsa.schema.errors import ChatStoreUnavailable
from responsa.schema.stored import StoredMessage
from responsa.server import Service, readiness
from responsa.server.models.replies import ReadyReply
from responsa.testing import ScriptedLLM

NO_DATABASE = b"something else entirely, and long enough to be looked at as a header" * 20
FEEDBACK = {"answer_id": "abc", "rating": "up"}


async def unready(client: httpx2.AsyncClient) -> list[str]:
    """What /readyz says cannot be used."""
    reply = await client.get("/readyz")
    ready = ReadyReply.model_validate(reply.json())
    assert (reply.status_code, ready.ready) == ((200, True) if all(one.ready for one in ready.checks) else (503, False))
    assert all(bool(one.reason) is not one.ready for one in ready.checks)
    return [one.name for one in ready.checks if not one.ready]


def garbage(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "sessions.db").write_bytes(NO_DATABASE)
    return {}


def a_directory(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "sessions.db").mkdir()
    return {}


def a_place_that_is_not_there(tmp_path: Path) -> dict[str, Any]:
    return {"sessions_database": str(tmp_path / "hidden place" / "chats.db")}


def a_postgresql_that_is_not_there(_: Path) -> dict[str, Any]:
    return {"sessions_database": "postgresql://somebody:hunter2@127.0.0.1:1/hidden?connect_timeout=2"}


def no_database_of_ours(_: Path) -> dict[str, Any]:
    return {"sessions_database": "mysql://somebody:hunter2@127.0.0.1/hidden"}


FAULTS = [garbage, a_directory, a_place_that_is_not_there, a_postgresql_that_is_not_there, no_database_of_ours]


@pytest.mark.parametrize("fault", FAULTS)
def test_sessions_whose_database_cannot_be_used_at_the_start_are_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, fault: Callable[[Path], dict[str, Any]]
) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path, **fault(tmp_path))) as client:
            for reply in (
                await client.post("/v1/sessions", json={}),
                await client.get("/v1/sessions"),
                await client.post("/v1/sessions/abc/messages", json={**QUESTION, "stream": True}),
                await client.post("/v1/feedback", json={"session_id": "a", "message_id": "b", "rating": "up"}),
            ):
                assert reply.status_code in (500, 503)
                assert reply.json()["error"]["code"] in ("chat_store_unavailable", "chat_store_damaged")
                assert not [
                    word for word in (str(tmp_path), "hidden", "somebody", "hunter2", "127") if word in reply.text
                ]
            assert await unready(client) == ["sessions"]
            assert (await client.post("/v1/answer", json=QUESTION)).json()["answer"] == ANSWER  # the rest goes on

    asyncio.run(scene())
    assert "hunter2" not in caplog.text
    [told] = [record for record in caplog.records if record.name == readiness.LOG.name]
    assert (told.levelno, told.getMessage().partition(":")[0]) == (logging.WARNING, "sessions")


def test_feedback_whose_database_cannot_be_used_at_the_start_is_refused_until_it_can(tmp_path: Path) -> None:
    async def scene() -> None:
        (tmp_path / "service.db").write_bytes(NO_DATABASE)
        async with in_process(a_service(tmp_path)) as client:
            for reply in (await client.post("/v1/feedback", json=FEEDBACK), await client.get("/v1/jobs")):
                assert (reply.status_code, reply.json()["error"]["code"]) == (503, "records_unavailable")
            assert await unready(client) == ["records"]
            (tmp_path / "service.db").unlink()
            assert (await client.post("/v1/feedback", json=FEEDBACK)).status_code == 201
        assert stored(tmp_path) == 1

    asyncio.run(scene())


def stored(tmp_path: Path) -> int:
    with sqlite3.connect(tmp_path / "service.db") as connection:
        count: int = connection.execute("SELECT count(*) FROM feedback").fetchone()[0]
    connection.close()
    return count


def move_away(tmp_path: Path, name: str) -> None:
    """What a careless hand does to a database in use; SQLite would go on writing to what nobody finds again."""
    (tmp_path / name).rename(tmp_path / f"{name}.moved")


def put_another_there(tmp_path: Path, name: str) -> None:
    move_away(tmp_path, name)
    sqlite3.connect(tmp_path / name).close()


@pytest.mark.parametrize("change", [move_away, put_another_there])
def test_what_would_go_to_a_file_that_was_moved_away_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path, str], None]
) -> None:
    monkeypatch.setattr(readiness, "BELIEVED", 0.0)

    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            assert (await client.post("/v1/feedback", json=FEEDBACK)).status_code == 201
            assert await unready(client) == []
            change(tmp_path, "service.db")
            change(tmp_path, "sessions.db")
            for reply in (
                await client.post("/v1/feedback", json=FEEDBACK),
                await client.post("/v1/sessions", json={}),
                await client.post(f"/v1/sessions/{session}/messages", json=QUESTION),
            ):
                assert reply.status_code == 503
                assert reply.json()["error"]["code"] in ("records_unavailable", "chat_store_unavailable")
            assert await unready(client) == ["sessions", "records"]

    asyncio.run(scene())


def test_an_answer_whose_session_was_moved_away_meanwhile_is_no_success(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        async with on_a_socket(a_service(tmp_path, llm)) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            body = {"question": "Count.", "mode": "generation", "stream": True}
            async with client.stream("POST", f"/v1/sessions/{session}/messages", json=body) as reply:
                await asyncio.wait_for(llm.begun.wait(), 60)
                move_away(tmp_path, "sessions.db")
                llm.allow(3)
                *_, error, done = [event async for event in events_of(reply)]
            assert error.data["error"]["code"] == "chat_store_unavailable"
            assert done.data["outcome"] == "failed"

    asyncio.run(scene())


class FailingStore(SQLAlchemyChatStore):
    """Cannot be written to while the test says so."""

    fails = False

    async def areplace_message(self, session_id: str, message: StoredMessage, **options: Any) -> bool:
        self._fail()
        return await super().areplace_message(session_id, message, **options)

    async def aadd_messages(self, session_id: str, messages: Any) -> list[str]:
        self._fail()
        return await super().aadd_messages(session_id, messages)

    async def adelete_session(self, session_id: str) -> bool:
        self._fail()
        return await super().adelete_session(session_id)

    def _fail(self) -> None:
        if self.fails:
            raise ChatStoreUnavailable(self.location, "the disk is full")


def with_store(tmp_path: Path, llm: ScriptedLLM, store: SQLAlchemyChatStore) -> Service:
    service = a_service(tmp_path, llm)
    return Service(service.settings, llm=llm, chat_store=store)


@pytest.mark.parametrize("streamed", [True, False])
def test_an_answer_that_cannot_be_stored_is_no_success_and_the_same_question_goes_on_once_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, streamed: bool
) -> None:
    monkeypatch.setattr(readiness, "BELIEVED", 0.0)

    async def scene() -> None:
        llm, store = SteppedLLM(), FailingStore(tmp_path / "sessions.db")
        async with on_a_socket(with_store(tmp_path, llm, store)) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            path = f"/v1/sessions/{session}/messages"
            body = {"question": "Count.", "mode": "generation", "stream": streamed}
            store.fails = True
            refused = await client.post(path, json={**body, "stream": False})
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "chat_store_unavailable")
            assert llm.prompts == []  # nobody was asked for what could not be kept
            assert await unready(client) == ["sessions"]
            store.fails = False
            assert await unready(client) == []
            asked = asyncio.ensure_future(client.post(path, json=body))
            await asyncio.wait_for(llm.begun.wait(), 60)
            store.fails = True
            llm.allow(3)
            told = await asked
            assert "chat_store_unavailable" in told.text
            assert "disk is full" not in told.text
            assert streamed or told.status_code == 503
            assert '"outcome":"answered"' not in told.text
            store.fails = False
            llm.allow(3)
            again = await client.post(path, json={**body, "stream": False})
            assert again.json()["answer"] == "One two three."
            messages = (await client.get(f"/v1/sessions/{session}")).json()["messages"]
            assert [one["content"] for one in messages] == ["Count.", "One two three."]

    asyncio.run(scene())


def test_a_database_that_says_nothing_is_told_and_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "BELIEVED", 0.0)
    monkeypatch.setattr(readiness, "PART_PATIENCE", 0.05)

    async def scene() -> None:
        service = a_service(tmp_path)
        answers, asked = asyncio.Event(), 0

        async def silent() -> None:
            nonlocal asked
            asked += 1
            await answers.wait()

        monkeypatch.setattr(service.sessions, "check", silent)
        async with in_process(service) as client:
            for _ in range(2):
                assert "sessions" in await unready(client)
            assert asked == 1
            answers.set()
            monkeypatch.setattr(readiness, "PART_PATIENCE", 60.0)
            assert await unready(client) == []

    asyncio.run(scene())
