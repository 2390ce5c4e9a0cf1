"""Feedback over HTTP: on the disk before it is told of, changed, taken back, and each key's own."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from tests.server.support import ANSWER, QUESTION, a_service, in_process

from responsa.server.models.feedback import FeedbackListReply, FeedbackReply
from responsa.server.security.keys import KeyStore


def test_feedback_on_a_sessions_answer_is_on_the_disk_when_it_is_told(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            answer = (await client.post(f"/v1/sessions/{session}/messages", json=QUESTION)).json()
            body = {"session_id": session, "message_id": answer["reply_id"], "rating": "down", "reasons": ["wrong"]}
            reply = await client.post("/v1/feedback", json={**body, "comment": "错了"})
            assert reply.status_code == 201
            given = FeedbackReply.model_validate(reply.json())
            assert (given.question, given.answer, given.comment) == (QUESTION["question"], ANSWER, "错了")
            with sqlite3.connect(f"file:{tmp_path / 'service.db'}?mode=ro", uri=True) as other:
                assert other.execute("SELECT id FROM feedback").fetchall() == [(given.id,)]
            other.close()
            wrong = await client.post("/v1/feedback", json={**body, "message_id": "nothing"})
            assert wrong.json()["error"]["code"] == "message_not_found"
            asked = await client.post("/v1/feedback", json={**body, "message_id": answer["message_id"]})
            assert asked.status_code == 422

    asyncio.run(scene())


def test_feedback_is_changed_and_taken_back(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            body = {"answer_id": "abc", "question": "One?", "answer": "Two."}
            first = (await client.post("/v1/feedback", json={**body, "rating": "up"})).json()
            second = (await client.post("/v1/feedback", json={**body, "rating": "down", "reasons": ["slow"]})).json()
            assert second["id"] == first["id"]
            listed = FeedbackListReply.model_validate((await client.get("/v1/feedback")).json())
            assert [(one.rating, one.reasons) for one in listed.feedback] == [("down", ["slow"])]
            assert (await client.delete(f"/v1/feedback/{first['id']}")).status_code == 200
            assert (await client.get("/v1/feedback")).json()["feedback"] == []
            again = await client.delete(f"/v1/feedback/{first['id']}")
            assert (again.status_code, again.json()["error"]["code"]) == (404, "feedback_not_found")

    asyncio.run(scene())


@pytest.mark.parametrize(
    "body",
    [
        {"rating": "up"},
        {"rating": "up", "answer_id": "a", "session_id": "b", "message_id": "c"},
        {"rating": "up", "session_id": "b"},
        {"rating": "5", "answer_id": "a"},
        {"rating": "down", "answer_id": "a", "reasons": ["because"]},
        {"rating": "down", "answer_id": "a", "comment": "x" * 5000},
    ],
)
def test_feedback_that_names_no_answer_or_says_what_cannot_be_is_refused(tmp_path: Path, body: object) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            assert (await client.post("/v1/feedback", json=body)).status_code == 422
            assert (await client.get("/v1/feedback")).json()["feedback"] == []

    asyncio.run(scene())


def test_only_an_admin_reads_everyones_feedback(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, no_auth=False)
        keys = KeyStore(service.settings.keys_file)
        (_, anna), (_, admin) = keys.add("anna"), keys.add("admin", ["admin"])
        async with in_process(service) as client:
            theirs, mine = {"Authorization": f"Bearer {anna}"}, {"Authorization": f"Bearer {admin}"}
            body = {"answer_id": "abc", "rating": "up"}
            given = (await client.post("/v1/feedback", json=body, headers=theirs)).json()
            assert (await client.get("/v1/feedback", headers=mine)).json()["feedback"] == []
            assert (await client.delete(f"/v1/feedback/{given['id']}", headers=mine)).status_code == 404
            everyone = {"everyone": "true"}
            assert (await client.get("/v1/feedback", params=everyone, headers=theirs)).status_code == 403
            listed = (await client.get("/v1/feedback", params=everyone, headers=mine)).json()
            assert listed["feedback"] == [given]

    asyncio.run(scene())


def test_feedback_that_cannot_be_stored_is_no_success(tmp_path: Path) -> None:
    async def scene() -> None:
        (tmp_path / "service.db").write_bytes(b"no database at all" * 100)
        async with in_process(a_service(tmp_path)) as client:
            reply = await client.post("/v1/feedback", json={"answer_id": "abc", "rating": "up"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (503, "records_unavailable")
            assert str(tmp_path) not in reply.text

    asyncio.run(scene())
