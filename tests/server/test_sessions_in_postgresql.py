"""Sessions in a real PostgreSQL: they outlive the service, and a database that fails is told of."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import psycopg
import pytest
from tests.faults import FaultServer, answer_of
from tests.server.process import a_process, model_server
from tests.server.support import ANSWER, QUESTION, a_service, in_process

from responsa.server import readiness


def test_a_service_that_is_started_again_goes_on_with_the_conversation(
    faults: FaultServer, tmp_path: Path, postgres_uri: str
) -> None:
    model_server(faults, answer_of("Oil."), answer_of("Because."))
    body = {"question": "What does it need?", "mode": "generation"}
    with a_process(tmp_path, faults.url, "--no-auth", sessions_database=postgres_uri) as served:
        session = httpx2.post(f"{served.url}/v1/sessions", json={}).json()["id"]
        assert httpx2.post(f"{served.url}/v1/sessions/{session}/messages", json=body).json()["answer"] == "Oil."
    other = tmp_path / "another machine"
    other.mkdir()
    with a_process(other, faults.url, "--no-auth", sessions_database=postgres_uri) as served:
        messages = httpx2.get(f"{served.url}/v1/sessions/{session}").json()["messages"]
        assert [(one["content"], one["status"]) for one in messages] == [
            ("What does it need?", "complete"),
            ("Oil.", "complete"),
        ]
        httpx2.post(f"{served.url}/v1/sessions/{session}/messages", json={**body, "question": "Why?"})
        sent = faults.requests("POST /v1/chat/completions")[-1].json["messages"]
        assert [one["content"] for one in sent][-3:-1] == ["What does it need?", "Oil."]
    assert not list(tmp_path.rglob("sessions.db"))


def test_a_database_that_breaks_down_later_is_told_and_used_again_once_it_is_back(
    tmp_path: Path, postgres_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "BELIEVED", 0.0)

    async def scene() -> None:
        async with in_process(a_service(tmp_path, sessions_database=postgres_uri)) as client:
            path = f"/v1/sessions/{(await client.post('/v1/sessions', json={})).json()['id']}"
            assert (await client.post(f"{path}/messages", json=QUESTION)).json()["answer"] == ANSWER
            rename(postgres_uri, "responsa_chat_sessions", "gone")
            refused = await client.post(f"{path}/messages", json=QUESTION)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "chat_store_unavailable")
            unready = await client.get("/readyz")
            assert unready.status_code == 503
            assert "responsa_chat" not in refused.text + unready.text
            rename(postgres_uri, "gone", "responsa_chat_sessions")
            assert (await client.get("/readyz")).status_code == 200
            await client.post(f"{path}/messages", json=QUESTION)
            assert len((await client.get(path)).json()["messages"]) == 4

    asyncio.run(scene())


def rename(uri: str, table: str, name: str) -> None:
    with psycopg.connect(uri) as connection:
        connection.execute(f"ALTER TABLE {table} RENAME TO {name}")
