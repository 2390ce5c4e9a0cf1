"""Sessions over HTTP: begun, read, forked, exported, and each known only to the key that made it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.support import ANSWER, QUESTION, SteppedLLM, a_service, an_index, in_process, on_a_socket, parsed

from responsa.schema.errors import ServerUnreachable
from responsa.server.models.sessions import SessionAnswerReply, SessionDetailReply, SessionReply, SessionsReply
from responsa.server.security.keys import KeyStore
from responsa.testing import ScriptedLLM

FIRST = "Which oil does the X200 pump need?"
REWRITTEN = "How often must the oil of the X200 pump be changed?"


async def begun(client: httpx2.AsyncClient, title: str = "") -> str:
    """Begin a session and return its identity."""
    reply = await client.post("/v1/sessions", json={"title": title})
    assert reply.status_code == 201
    return SessionReply.model_validate(reply.json()).id


async def asked(client: httpx2.AsyncClient, session: str, question: str, **options: Any) -> SessionAnswerReply:
    reply = await client.post(f"/v1/sessions/{session}/messages", json={"question": question, **options})
    assert reply.status_code == 200, reply.text
    return SessionAnswerReply.model_validate(reply.json())


async def read(client: httpx2.AsyncClient, session: str) -> SessionDetailReply:
    reply = await client.get(f"/v1/sessions/{session}")
    assert reply.status_code == 200, reply.text
    return SessionDetailReply.model_validate(reply.json())


def contents(session: SessionDetailReply) -> list[tuple[str, str, str]]:
    return [(one.role, one.content, one.status) for one in session.messages]


def test_a_follow_up_is_rewritten_for_one_search_and_both_turns_are_kept_with_their_hits(tmp_path: Path) -> None:
    llm = ScriptedLLM([ANSWER, REWRITTEN, "The X200 pump needs ISO VG 46 oil [1]."])

    async def scene() -> None:
        async with in_process(a_service(tmp_path, llm, indexes={"docs": an_index()})) as client:
            session = await begun(client)
            first = await asked(client, session, FIRST, top_k=1)
            assert (first.session_id, first.searched_with or FIRST) == (session, FIRST)
            second = await asked(client, session, "And how often must it be changed?", top_k=1)
            assert second.searched_with == REWRITTEN
            assert [call.stage for call in second.trace] == ["condense", "answer"]
            final = llm.prompts[-1]
            assert "And how often must it be changed?" in final[-1].content  # the person's own words are answered
            assert ANSWER in [message.content for message in final]
            stored = await read(client, session)
            assert [one.role for one in stored.messages] == ["user", "assistant"] * 2
            assert [one.id for one in stored.messages] == [
                *(first.message_id, first.reply_id, second.message_id, second.reply_id),
            ]
            assert stored.title == FIRST
            reply = stored.messages[1]
            assert reply.hits == first.hits
            assert reply.citations == first.citations
            assert stored.messages[3].searched_with == REWRITTEN

    asyncio.run(scene())


def test_a_streamed_message_tells_where_it_is_stored_and_can_be_heard_again(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            session = await begun(client, "Pumps")
            path = f"/v1/sessions/{session}/messages"
            reply = await client.post(path, json={**QUESTION, "stream": True})
            events = parsed(reply.text)
            names = list(dict.fromkeys(event.name for event in events))
            assert names == [
                *("started", "message_stored", "plan", "sources", "step_started", "text_delta", "citation"),
                *("step_finished", "done"),
            ]
            last = SessionAnswerReply.model_validate(events[-1].data)
            assert (last.message_id, last.reply_id) == (events[1].data["message_id"], events[1].data["reply_id"])
            again = await client.get(f"/v1/answers/{last.answer_id}/events", headers={"Last-Event-ID": "2"})
            assert parsed(again.text) == events[2:]
            stored = await read(client, session)
            assert (stored.title, stored.answer_id) == ("Pumps", None)
            assert contents(stored) == [("user", FIRST, "complete"), ("assistant", ANSWER, "complete")]

    asyncio.run(scene())


def test_messages_of_one_session_at_once_are_answered_in_turn_and_none_is_lost(tmp_path: Path) -> None:
    questions = [f"Question number {number}?" for number in range(5)]

    async def scene() -> None:
        llm = ScriptedLLM([f"Answer {number}." for number in range(5)])
        async with on_a_socket(a_service(tmp_path, llm, concurrency=4)) as client:
            session = await begun(client)
            await asyncio.gather(*(asked(client, session, one, mode="generation") for one in questions))
            messages = (await read(client, session)).messages
            assert [one.content for one in messages[1::2]] == [f"Answer {number}." for number in range(5)]
            assert sorted(one.content for one in messages[::2]) == questions
            for number, prompt in enumerate(llm.prompts):  # each sees all turns before it, whole
                spoken = [one.content for one in prompt if one.role.value != "system"]
                assert spoken[: 2 * number] == [one.content for one in messages[: 2 * number]]

    asyncio.run(scene())


def test_one_conversation_holds_no_slot_that_another_could_use(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        async with on_a_socket(a_service(tmp_path, llm, concurrency=2)) as client:
            mine, other = await begun(client), await begun(client)
            waiting = [asyncio.ensure_future(asked(client, mine, f"Q{n}?", mode="generation")) for n in range(3)]
            await asyncio.wait_for(llm.begun.wait(), 60)
            theirs = asyncio.ensure_future(asked(client, other, "Mine?", mode="generation"))
            async with asyncio.timeout(60):
                while llm.under_way < 2:
                    await asyncio.sleep(0.001)
            assert "Mine?" in llm.prompts[-1][-1].content
            llm.allow(100)
            await asyncio.gather(theirs, *waiting)

    asyncio.run(scene())


def test_more_waiting_messages_than_may_are_refused(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        service = a_service(tmp_path, llm)
        async with on_a_socket(service) as client:
            session = await begun(client)
            path, body = f"/v1/sessions/{session}/messages", {"question": "Again?", "mode": "generation"}
            waiting = []
            for number in range(9):
                waiting.append(asyncio.ensure_future(client.post(path, json=body)))
                async with asyncio.timeout(60):
                    while len(service.runs.all()) <= number:
                        await asyncio.sleep(0.001)
            await asyncio.wait_for(llm.begun.wait(), 60)
            refused = await client.post(path, json=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (409, "session_busy")
            llm.allow(1000)
            assert [reply.status_code for reply in await asyncio.gather(*waiting)] == [200] * 9

    asyncio.run(scene())


def test_a_stopped_answer_is_kept_as_interrupted_and_the_same_question_goes_on_with_its_turn(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One ", "two."])
        async with on_a_socket(a_service(tmp_path, llm)) as client:
            session = await begun(client)
            body = {"question": "Count.", "mode": "generation"}
            waiting = asyncio.ensure_future(client.post(f"/v1/sessions/{session}/messages", json=body))
            await asyncio.wait_for(llm.begun.wait(), 60)
            llm.allow()
            under_way = await read(client, session)
            assert [one.status for one in under_way.messages] == ["complete", "partial"]
            async with asyncio.timeout(60):
                while llm.allowed.locked() is False:
                    await asyncio.sleep(0.001)
            assert (await client.delete(f"/v1/answers/{under_way.answer_id}")).json()["state"] == "stopped"
            assert (await waiting).status_code == 409
            assert contents(await read(client, session))[1][2] == "interrupted"
            llm.allow(2)
            await asked(client, session, "Count.", mode="generation")
            assert contents(await read(client, session)) == [
                ("user", "Count.", "complete"),
                ("assistant", "One two.", "complete"),
            ]

    asyncio.run(scene())


def test_a_model_that_fails_loses_no_message(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM([ServerUnreachable("http://x/v1", "refused", ""), ANSWER])
        async with in_process(a_service(tmp_path, llm)) as client:
            session = await begun(client)
            failed = await client.post(f"/v1/sessions/{session}/messages", json=QUESTION)
            assert failed.status_code == 502
            assert [one.status for one in (await read(client, session)).messages] == ["complete", "interrupted"]
            await asked(client, session, **QUESTION)
            assert [one.content for one in (await read(client, session)).messages] == [FIRST, ANSWER]

    asyncio.run(scene())


def test_an_answer_written_anew_keeps_the_one_it_had(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM(["First.", "Later.", "Second."])
        async with in_process(a_service(tmp_path, llm)) as client:
            session = await begun(client)
            first = await asked(client, session, "One?", mode="generation")
            await asked(client, session, "Two?", mode="generation")
            path = f"/v1/sessions/{session}/messages"
            anew = await client.post(f"{path}/{first.reply_id}/regenerate", json={"mode": "generation"})
            assert SessionAnswerReply.model_validate(anew.json()).answer == "Second."
            assert anew.json()["message_id"] == first.message_id
            messages = (await read(client, session)).messages
            assert [one.content for one in messages] == ["One?", "Second."]
            assert [(one.text, one.reason) for one in messages[1].earlier] == [("First.", "regenerated")]
            for wrong in (first.message_id, "nothing"):
                bare = await client.post(f"{path}/{wrong}/regenerate")
                assert bare.status_code == (422 if wrong == first.message_id else 404)
                refused = await client.post(f"{path}/{wrong}/regenerate", json={"mode": "generation"})
                assert refused.status_code == (422 if wrong == first.message_id else 404)

    asyncio.run(scene())


def test_an_edited_question_is_answered_in_its_place_and_keeps_its_wording(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM(["First.", "Later.", "Second."])
        async with in_process(a_service(tmp_path, llm)) as client:
            session = await begun(client)
            first = await asked(client, session, "One?", mode="generation")
            await asked(client, session, "Two?", mode="generation")
            path = f"/v1/sessions/{session}/messages"
            body = {"question": "One, please?", "mode": "generation"}
            edited = await client.post(f"{path}/{first.message_id}/edit", json=body)
            assert (edited.json()["message_id"], edited.json()["answer"]) == (first.message_id, "Second.")
            messages = (await read(client, session)).messages
            assert [one.content for one in messages] == ["One, please?", "Second."]
            assert [(one.text, one.reason) for one in messages[0].earlier] == [("One?", "edited")]
            refused = await client.post(f"{path}/{edited.json()['reply_id']}/edit", json=body)
            assert refused.status_code == 422
            assert [one.content for one in (await read(client, session)).messages] == ["One, please?", "Second."]

    asyncio.run(scene())


def test_half_a_character_that_a_model_wrote_keeps_no_session_from_being_read(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path, ScriptedLLM("The \ud83d X200 pump needs ISO VG 46 oil."))) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            assert (await client.post(f"/v1/sessions/{session}/messages", json=QUESTION)).status_code == 200
            reply = await client.get(f"/v1/sessions/{session}")
            assert reply.status_code == 200, reply.text
            assert reply.json()["messages"][1]["content"] == "The ? X200 pump needs ISO VG 46 oil."

    asyncio.run(scene())


def test_a_fork_goes_its_own_way(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path, ScriptedLLM(["A.", "B.", "C."]))) as client:
            session = await begun(client)
            first = await asked(client, session, "One?", mode="generation")
            await asked(client, session, "Two?", mode="generation")
            body = {"message_id": first.reply_id, "title": "Other"}
            reply = await client.post(f"/v1/sessions/{session}/fork", json=body)
            assert reply.status_code == 201
            other = SessionReply.model_validate(reply.json())
            await asked(client, other.id, "Three?", mode="generation")
            assert [one.content for one in (await read(client, other.id)).messages] == ["One?", "A.", "Three?", "C."]
            assert [one.content for one in (await read(client, session)).messages] == ["One?", "A.", "Two?", "B."]
            whole = await client.post(f"/v1/sessions/{session}/fork", json={})
            assert len((await read(client, whole.json()["id"])).messages) == 4
            unknown = await client.post(f"/v1/sessions/{session}/fork", json={"message_id": "nothing"})
            assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "message_not_found")

    asyncio.run(scene())


def test_a_session_is_listed_renamed_and_deleted(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            sessions = [await begun(client, f"Session {number}") for number in range(3)]
            renamed = await client.patch(f"/v1/sessions/{sessions[0]}", json={"title": "重命名"})
            assert renamed.json()["title"] == "重命名"
            page = SessionsReply.model_validate((await client.get("/v1/sessions?limit=2")).json())
            assert [one.title for one in page.sessions] == ["重命名", "Session 2"]
            rest = SessionsReply.model_validate((await client.get(f"/v1/sessions?offset={page.next_offset}")).json())
            assert ([one.title for one in rest.sessions], rest.next_offset) == (["Session 1"], None)
            deleted = await client.delete(f"/v1/sessions/{sessions[0]}")
            assert deleted.json() == {"id": sessions[0], "deleted": True}
            for call in (client.get, client.delete):
                assert (await call(f"/v1/sessions/{sessions[0]}")).status_code == 404
            asked_of_it = await client.post(f"/v1/sessions/{sessions[0]}/messages", json=QUESTION)
            assert asked_of_it.json()["error"]["code"] == "session_not_found"

    asyncio.run(scene())


def test_deleting_a_session_stops_its_answer_and_no_waiting_message_brings_it_back(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        async with on_a_socket(a_service(tmp_path, llm)) as client:
            session = await begun(client)
            body = {"question": "Again?", "mode": "generation"}
            path = f"/v1/sessions/{session}/messages"
            waiting = [asyncio.ensure_future(client.post(path, json=body)) for _ in range(2)]
            await asyncio.wait_for(llm.begun.wait(), 60)
            assert (await client.delete(f"/v1/sessions/{session}")).status_code == 200
            assert sorted(reply.status_code for reply in await asyncio.gather(*waiting)) == [404, 409]
            assert (await client.get(f"/v1/sessions/{session}")).status_code == 404
            assert (await client.get("/v1/sessions")).json()["sessions"] == []

    asyncio.run(scene())


def test_a_session_is_known_to_the_key_that_made_it_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, no_auth=False)
        keys = KeyStore(service.settings.keys_file)
        (_, anna), (_, bert) = keys.add("anna", ["admin"]), keys.add("bert", ["admin"])
        async with in_process(service) as client:
            client.headers["Authorization"] = f"Bearer {anna}"
            session = await begun(client, "Secret")
            answer = await asked(client, session, **QUESTION)
            client.headers["Authorization"] = f"Bearer {bert}"
            assert (await client.get("/v1/sessions")).json()["sessions"] == []
            path = f"/v1/sessions/{session}"
            calls = [
                await client.get(path),
                await client.patch(path, json={"title": "x"}),
                await client.delete(path),
                await client.post(f"{path}/messages", json=QUESTION),
                await client.post(f"{path}/messages/{answer.message_id}/edit", json=QUESTION),
                await client.post(f"{path}/messages/{answer.reply_id}/regenerate", json={}),
                await client.post(f"{path}/fork", json={}),
                await client.get(f"{path}/export"),
            ]
            assert [(call.status_code, call.json()["error"]["code"]) for call in calls] == [
                (404, "session_not_found")
            ] * len(calls)
            client.headers["Authorization"] = f"Bearer {anna}"
            assert len((await read(client, session)).messages) == 2
            del client.headers["Authorization"]
            assert (await client.get(path)).status_code == 401

    asyncio.run(scene())


@pytest.mark.parametrize(("language", "you"), [("en", "## User"), ("zh", "## 用户")])
def test_a_session_is_exported_without_the_names_of_files(tmp_path: Path, language: str, you: str) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, ScriptedLLM("The valve opens at 3 bar [1]."), indexes={"docs": an_index()})
        async with in_process(service) as client:
            session = await begun(client)
            await asked(client, session, "At which pressure does the valve open?")
            path, headers = f"/v1/sessions/{session}/export", {"Accept-Language": language}
            markdown = await client.get(path, headers=headers)
            assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
            assert markdown.headers["content-disposition"] == 'attachment; filename="session.md"'
            assert you in markdown.text
            assert "The valve opens at 3 bar" in markdown.text
            taken = await client.get(path, params={"format": "json"})
            assert taken.json()["session"]["id"] == session
            assert [one["message"]["role"] for one in taken.json()["messages"]] == ["user", "assistant"]
            seen = markdown.text + taken.text + (await client.get(f"/v1/sessions/{session}")).text
            assert "/secret/place" not in seen
            assert (await client.get(path, params={"format": "html"})).status_code == 422

    asyncio.run(scene())


def test_a_greeting_is_answered_without_a_search(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("Hello! How can I help?")
        async with in_process(a_service(tmp_path, llm, indexes={"docs": an_index()})) as client:
            answer = await asked(client, await begun(client), "Hello!")
            assert (answer.answer, answer.hits) == ("Hello! How can I help?", [])

    asyncio.run(scene())


def test_sessions_outlive_the_process(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            session = await begun(client)
            await asked(client, session, **QUESTION)
        async with in_process(a_service(tmp_path)) as client:
            assert [one.content for one in (await read(client, session)).messages] == [FIRST, ANSWER]

    asyncio.run(scene())
