"""Messages of a session that wait for their turn: stored when they come, and answered in order, by any process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
from tests.faults import FaultServer, WaitFor, answer_of
from tests.server.process import a_process, model_server
from tests.server.support import SteppedLLM, a_service, on_a_socket

from responsa.server import Service
from responsa.testing import ScriptedLLM


def body(question: str, **options: Any) -> dict[str, Any]:
    return {"question": question, "mode": "generation", **options}


async def begun(client: httpx2.AsyncClient) -> str:
    return str((await client.post("/v1/sessions", json={})).json()["id"])


async def stored(client: httpx2.AsyncClient, session: str) -> list[tuple[str, str, str]]:
    messages = (await client.get(f"/v1/sessions/{session}")).json()["messages"]
    return [(one["role"], one["content"], one["status"]) for one in messages]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.001)


async def until_stored(client: httpx2.AsyncClient, session: str, row: tuple[str, str, str]) -> None:
    async with asyncio.timeout(60):
        while row not in await stored(client, session):
            await asyncio.sleep(0.001)


def asking(client: httpx2.AsyncClient, session: str, question: str, **options: Any) -> asyncio.Future[httpx2.Response]:
    return asyncio.ensure_future(
        client.post(f"/v1/sessions/{session}/messages", json=body(question, **options), timeout=60)
    )


def test_a_message_behind_another_is_stored_before_its_turn(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["Yes."])
        async with on_a_socket(a_service(tmp_path, llm)) as client:
            session = await begun(client)
            first = asking(client, session, "1?")
            await asyncio.wait_for(llm.begun.wait(), 60)
            second = asking(client, session, "2?", stream=True)
            await until_stored(client, session, ("user", "2?", "partial"))
            assert len(llm.prompts) == 1
            llm.allow(2)
            assert [(await one).status_code for one in (first, second)] == [200, 200]
            assert await stored(client, session) == [
                *(("user", "1?", "complete"), ("assistant", "Yes.", "complete")),
                *(("user", "2?", "complete"), ("assistant", "Yes.", "complete")),
            ]
            assert [one.content for one in llm.prompts[1]][-3:] == ["1?", "Yes.", "2?"]

    asyncio.run(scene())


def test_messages_that_come_at_the_same_time_are_stored_in_the_order_they_are_answered_in(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["Yes."])
        async with on_a_socket(a_service(tmp_path, llm)) as client:
            session = await begun(client)
            asked = [asking(client, session, f"{number}?") for number in range(6)]
            async with asyncio.timeout(60):
                while len(rows := await stored(client, session)) < 7:
                    await asyncio.sleep(0.001)
            assert [(role, status) for role, _, status in rows] == [
                *(("user", "complete"), ("assistant", "partial")),
                *[("user", "partial")] * 5,
            ]
            waiting = [content for role, content, _ in rows if role == "user"]
            assert sorted(waiting) == [f"{number}?" for number in range(6)]
            llm.allow(6)
            assert [(await one).status_code for one in asked] == [200] * 6
            assert [prompt[-1].content for prompt in llm.prompts] == waiting
            assert [content for _, content, _ in await stored(client, session)][::2] == waiting
            for number, prompt in enumerate(llm.prompts):
                spoken = [one.content for one in prompt if one.role.value != "system"]
                assert spoken[:-1:2] == waiting[:number]

    asyncio.run(scene())


def test_a_message_that_waits_for_the_models_time_is_stored_before_it(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["Yes."])
        async with on_a_socket(a_service(tmp_path, llm, concurrency=1)) as client:
            one, other = await begun(client), await begun(client)
            first = asking(client, one, "1?")
            await asyncio.wait_for(llm.begun.wait(), 60)
            second = asking(client, other, "2?")
            await until_stored(client, other, ("user", "2?", "partial"))
            llm.allow(2)
            assert [(await asked).status_code for asked in (first, second)] == [200, 200]
            assert await stored(client, other) == [("user", "2?", "complete"), ("assistant", "Yes.", "complete")]

    asyncio.run(scene())


def test_a_message_whose_client_goes_away_before_its_turn_is_kept_and_can_be_asked_again(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["Yes."])
        service = a_service(tmp_path, llm, grace_seconds=0)
        async with on_a_socket(service) as client:
            session = await begun(client)
            first = asking(client, session, "1?")
            await asyncio.wait_for(llm.begun.wait(), 60)
            second = asking(client, session, "2?")
            await until_stored(client, session, ("user", "2?", "partial"))
            second.cancel()
            await until_stored(client, session, ("user", "2?", "interrupted"))
            llm.allow(2)
            await first
            again = (await asking(client, session, "2?")).json()
            messages = (await client.get(f"/v1/sessions/{session}")).json()["messages"]
            assert [one["content"] for one in messages] == ["1?", "Yes.", "2?", "Yes."]
            assert [one["id"] for one in messages[2:]] == [again["message_id"], again["reply_id"]]
            assert {one["status"] for one in messages} == {"complete"}

    asyncio.run(scene())


def test_a_message_that_an_edit_before_it_removes_is_stored_with_its_turn(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["Yes."])
        service = a_service(tmp_path, llm)
        async with on_a_socket(service) as client:
            session = await begun(client)
            llm.allow(1)
            first = (await asking(client, session, "1?")).json()
            running = asking(client, session, "2?")
            await until(lambda: llm.under_way == 1)
            path = f"/v1/sessions/{session}/messages/{first['message_id']}/edit"
            edit = asyncio.ensure_future(client.post(path, json=body("One?"), timeout=60))
            await until(lambda: service.runs.active == 2)
            last = asking(client, session, "3?")
            await until_stored(client, session, ("user", "3?", "partial"))
            llm.allow(3)
            assert [(await one).status_code for one in (running, edit, last)] == [200, 200, 200]
            rows = await stored(client, session)
            assert [content for _, content, _ in rows] == ["One?", "Yes.", "3?", "Yes."]

    asyncio.run(scene())


def test_a_session_that_is_deleted_takes_what_waits_with_it(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["Yes."])
        service = a_service(tmp_path, llm)
        async with on_a_socket(service) as client:
            session = await begun(client)
            waiting = [asking(client, session, "1?")]
            await asyncio.wait_for(llm.begun.wait(), 60)
            waiting.append(asking(client, session, "2?"))
            await until_stored(client, session, ("user", "2?", "partial"))
            assert (await client.delete(f"/v1/sessions/{session}")).status_code == 200
            assert [(await one).status_code for one in waiting] == [409, 404]
            assert (await client.get(f"/v1/sessions/{session}")).status_code == 404

    asyncio.run(scene())


def test_a_message_that_need_not_wait_is_written_once(tmp_path: Path) -> None:
    async def scene() -> None:
        service: Service = a_service(tmp_path, ScriptedLLM("Yes."))
        store = await service.sessions.store()
        adding, added = store.aadd_messages, []

        async def watched(session_id: str, messages: Any) -> list[str]:
            added.append([one.status for one in messages])
            return await adding(session_id, messages)

        store.aadd_messages = watched  # type: ignore[method-assign]
        async with on_a_socket(service) as client:
            await asking(client, await begun(client), "How many slots?")
            added.clear()
            session = await begun(client)
            for question in ("1?", "2?"):
                assert (await asking(client, session, question)).status_code == 200
        assert added == [["complete", "partial"]] * 2

    asyncio.run(scene())


def test_two_processes_that_are_asked_at_once_neither_lose_nor_mix_the_turns_of_a_session(
    tmp_path: Path, faults: FaultServer
) -> None:
    go_on = threading.Event()
    model_server(faults, [WaitFor(go_on), answer_of("Here ", "it is.")], answer_of("Here ", "it is."))
    with (
        a_process(tmp_path, faults.url, "--no-auth") as one,
        a_process(tmp_path, faults.url, "--no-auth") as other,
        httpx2.Client(base_url=one.url, timeout=60) as first,
        httpx2.Client(base_url=other.url, timeout=60) as second,
        ThreadPoolExecutor(12) as pool,
    ):
        session = first.post("/v1/sessions", json={}).json()["id"]
        path = f"/v1/sessions/{session}/messages"
        held = pool.submit(first.post, path, json=body("Held?"))
        while not faults.count("POST /v1/chat/completions"):
            assert not held.done(), held.result().text
            time.sleep(0.01)
        # While one process answers, the other does too: each has a line of its own.
        assert second.post(path, json=body("Between?")).json()["answer"] == "Here it is."
        questions = [f"Question {number}?" for number in range(10)]
        asked = [
            pool.submit((first, second)[number % 2].post, path, json=body(question))
            for number, question in enumerate(questions)
        ]
        go_on.set()
        replies = [one.result() for one in (held, *asked)]
        assert [reply.status_code for reply in replies] == [200] * 11
        messages = first.get(f"/v1/sessions/{session}").json()["messages"]
        assert second.get(f"/v1/sessions/{session}").json()["messages"] == messages
    assert [one["role"] for one in messages] == ["user", "assistant"] * 12
    assert [one["turn"] for one in messages[1::2]] == [one["id"] for one in messages[::2]]
    assert [one["content"] for one in messages[:3:2]] == ["Held?", "Between?"]
    assert sorted(one["content"] for one in messages[4::2]) == questions
    assert {(one["content"], one["status"]) for one in messages[1::2]} == {("Here it is.", "complete")}
    for reply in replies:
        told = reply.json()
        place = [one["id"] for one in messages].index(told["message_id"])
        assert (messages[place]["content"], messages[place + 1]["id"]) == (told["question"], told["reply_id"])
    for prompt in (request.json["messages"] for request in faults.requests("POST /v1/chat/completions")):
        roles = [message["role"] for message in prompt if message["role"] != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]  # only whole turns are recalled
