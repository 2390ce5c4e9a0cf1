"""Streams over a real socket: resumed, stopped, left, read slowly, and kept waiting for their turn."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.support import QUESTION, Sent, SteppedLLM, a_service, events_of, on_a_socket, parsed, text_of

from responsa.server import Service
from responsa.testing import ScriptedLLM

STREAMED = {**QUESTION, "stream": True}


async def until(events: AsyncIterator[Sent], name: str) -> list[Sent]:
    """Read events up to the first of that name."""
    read = []
    async for event in events:
        read.append(event)
        if event.name == name:
            return read
    raise AssertionError(f"the stream ended without {name}")


async def settled(service: Service) -> None:
    """Let the loop run until no answer is under way."""
    async with asyncio.timeout(60):
        while service.runs.active:
            await asyncio.sleep(0.001)


def test_tokens_come_one_by_one_as_the_model_writes_them(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One ", "two ", "three."])
        async with (
            on_a_socket(a_service(tmp_path, llm)) as client,
            client.stream("POST", "/v1/answer", json=STREAMED) as reply,
            aclosing(events_of(reply)) as events,
        ):
            await until(events, "step_started")
            for piece in llm.pieces:
                llm.allow()
                [event] = await until(events, "text_delta")
                assert event.data["text"] == piece
            assert (await until(events, "done"))[-1].data["answer"] == "One two three."

    asyncio.run(scene())


def test_a_lost_stream_is_resumed_where_it_broke_off_without_a_second_generation(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One ", "two ", "three."])
        async with on_a_socket(a_service(tmp_path, llm)) as client:
            async with client.stream("POST", "/v1/answer", json=STREAMED) as reply:
                answer_id = reply.headers["answer-id"]
                async with aclosing(events_of(reply)) as events:
                    llm.allow()
                    first = await until(events, "text_delta")
            llm.allow(2)
            again = {"Last-Event-ID": str(first[-1].id)}
            rest = parsed((await client.get(f"/v1/answers/{answer_id}/events", headers=again)).text)
            assert [event.id for event in first + rest] == list(range(1, len(first + rest) + 1))
            assert text_of(first + rest) == "One two three."
            assert rest[-1].name == "done"
            whole = parsed((await client.get(f"/v1/answers/{answer_id}/events")).text)
            assert whole == first + rest
            assert len(llm.prompts) == 1

    asyncio.run(scene())


def test_several_listeners_of_one_answer_read_the_same(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        async with on_a_socket(a_service(tmp_path, llm)) as client:
            async with client.stream("POST", "/v1/answer", json=STREAMED) as reply:
                path = f"/v1/answers/{reply.headers['answer-id']}/events"
                others = [asyncio.ensure_future(client.get(path)) for _ in range(3)]
                llm.allow(3)
                text = "".join([piece async for piece in reply.aiter_text()])
            assert [(await other).text for other in others] == [text] * 3

    asyncio.run(scene())


@pytest.mark.parametrize("stream", [True, False])
def test_stopping_an_answer_closes_the_models_stream_and_is_told(tmp_path: Path, stream: bool) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        service = a_service(tmp_path, llm)
        async with on_a_socket(service) as client:
            asked = asyncio.ensure_future(client.post("/v1/answer", json={**QUESTION, "stream": stream}))
            llm.allow()
            await asyncio.wait_for(llm.begun.wait(), 60)
            [run] = service.runs.all()
            stopped = await client.delete(f"/v1/answers/{run.run_id}")
            assert stopped.json() == {"answer_id": run.run_id, "state": "stopped"}
            assert (llm.closed, llm.under_way) == (1, 0)
            reply = await asked
            if stream:
                assert [event.name for event in parsed(reply.text)[-2:]] == ["error", "done"]
                assert parsed(reply.text)[-1].data["outcome"] == "stopped"
            else:
                assert (reply.status_code, reply.json()["error"]["code"]) == (409, "answer_stopped")

    asyncio.run(scene())


def test_stopping_what_has_ended_says_how_it_ended(tmp_path: Path) -> None:
    async def scene() -> None:
        async with on_a_socket(a_service(tmp_path)) as client:
            reply = await client.post("/v1/answer", json=QUESTION)
            answer_id = reply.json()["answer_id"]
            assert (await client.delete(f"/v1/answers/{answer_id}")).json()["state"] == "done"
            assert (await client.delete("/v1/answers/nothing")).status_code == 404

    asyncio.run(scene())


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away_for_good_cancels_the_model(tmp_path: Path, stream: bool) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        service = a_service(tmp_path, llm, grace_seconds=0)
        async with on_a_socket(service) as client:
            asked = asyncio.ensure_future(client.post("/v1/answer", json={**QUESTION, "stream": stream}))
            await asyncio.wait_for(llm.begun.wait(), 60)
            asked.cancel()
            await asyncio.wait_for(llm.ended.wait(), 60)
            await settled(service)
            assert llm.closed == 1

    asyncio.run(scene())


def test_within_the_grace_time_an_answer_goes_on_without_a_listener(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        service = a_service(tmp_path, llm, grace_seconds=3600)
        async with on_a_socket(service) as client:
            asked = asyncio.ensure_future(client.post("/v1/answer", json=STREAMED))
            await asyncio.wait_for(llm.begun.wait(), 60)
            asked.cancel()
            [run] = service.runs.all()
            llm.allow(3)
            await settled(service)
            rest = parsed((await client.get(f"/v1/answers/{run.run_id}/events")).text)
            assert (rest[-1].name, rest[-1].data["answer"], llm.closed) == ("done", "One two three.", 0)

    asyncio.run(scene())


def test_a_silence_is_filled_with_heartbeats(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One."])
        async with (
            on_a_socket(a_service(tmp_path, llm, heartbeat_seconds=0.01)) as client,
            client.stream("POST", "/v1/answer", json=STREAMED) as reply,
        ):
            text = ""
            async for piece in reply.aiter_text():
                text += piece
                if text.count(": heartbeat\n\n") >= 3 and "text_delta" not in text:
                    llm.allow()
            assert text.count(": heartbeat\n\n") >= 3
            assert text_of(parsed(text)) == "One."

    asyncio.run(scene())


def test_a_client_that_reads_nothing_holds_nobody_up_and_costs_bounded_memory(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("word " * 20_000, context_window=200_000, num_output=60_000)
        service = a_service(tmp_path, llm, max_event_bytes=100_000)
        async with on_a_socket(service, send_buffer=65_536) as client:
            async with client.stream("POST", "/v1/answer", json=STREAMED) as reply:
                await settled(service)
                [run] = service.runs.all()
                assert run.log.size <= 100_000 + len(run.result)
                events = parsed("".join([piece async for piece in reply.aiter_text()]))
            dropped = [event for event in events if event.name == "events_dropped"]
            assert dropped
            numbers = [event.id for event in events if event.id is not None]
            assert len(numbers) + sum(event.data["count"] for event in dropped) == numbers[-1]
            assert events[-1].data["answer"] == ("word " * 20_000).strip()

    asyncio.run(scene())


def test_questions_beyond_the_slots_wait_in_order_and_are_told_their_place(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One."], slots=1)
        service = a_service(tmp_path, llm, max_waiting=2)
        async with on_a_socket(service) as client:
            asked: list[Any] = []
            for number in range(3):
                asked.append(asyncio.ensure_future(client.post("/v1/answer", json=STREAMED)))
                async with asyncio.timeout(60):
                    while service.runs.admission.active + service.runs.admission.waiting <= number:
                        await asyncio.sleep(0.001)
            refused = await client.post("/v1/answer", json=QUESTION)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
            assert int(refused.headers["retry-after"]) >= 1
            llm.allow(3)
            streams = [parsed((await one).text) for one in asked]
            told = [[event.data["position"] for event in events if event.name == "queued"] for events in streams]
            assert told == [[], [1], [2, 1]]
            assert all(events[-1].data["answer"] == "One." for events in streams)
            assert (service.runs.admission.active, service.runs.admission.waiting) == (0, 0)

    asyncio.run(scene())


def test_a_question_that_is_given_up_while_it_waits_frees_its_place(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One."], slots=1)
        service = a_service(tmp_path, llm, grace_seconds=0)
        async with on_a_socket(service) as client:
            first = asyncio.ensure_future(client.post("/v1/answer", json=STREAMED))
            await asyncio.wait_for(llm.begun.wait(), 60)
            async with client.stream("POST", "/v1/answer", json=STREAMED) as second:
                await until(events_of(second), "queued")
            async with asyncio.timeout(60):
                while service.runs.admission.waiting:
                    await asyncio.sleep(0.001)
            llm.allow(1)
            assert parsed((await first).text)[-1].data["answer"] == "One."
            assert len(llm.prompts) == 1

    asyncio.run(scene())


def test_the_end_of_the_service_ends_what_is_under_way_with_an_event(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        service = a_service(tmp_path, llm)
        async with on_a_socket(service) as client, client.stream("POST", "/v1/answer", json=STREAMED) as reply:
            events = events_of(reply)
            await until(events, "step_started")
            await service.aclose()
            assert [event.name for event in await until(events, "done")][-2:] == ["error", "done"]
            assert llm.closed == 1

    asyncio.run(scene())


def test_another_key_sees_nothing_of_an_answer(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, no_auth=False)
        headers = [{"Authorization": f"Bearer {service.keys.add(name)[1]}"} for name in ("anna", "ben")]
        async with on_a_socket(service) as client:
            reply = await client.post("/v1/answer", json=QUESTION, headers=headers[0])
            path = f"/v1/answers/{reply.json()['answer_id']}"
            for method, place in itertools.product(["GET", "DELETE"], [path, f"{path}/events"]):
                other: httpx2.Response = await client.request(method, place, headers=headers[1])
                assert other.status_code in (404, 405)
            assert (await client.get(f"{path}/events", headers=headers[0])).status_code == 200

    asyncio.run(scene())
