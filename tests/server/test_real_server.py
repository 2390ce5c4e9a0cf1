"""The service before a real llama-server: whole, streamed, planned, stopped."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.server.support import QUESTION, an_index, on_a_socket, parsed, text_of

from responsa.local.llama_server import LlamaServer
from responsa.server import Service, load_settings
from responsa.server.models.replies import AnswerReply, CompareReply, PlanReply, ReadyReply
from responsa.server.models.sessions import SessionAnswerReply

pytestmark = pytest.mark.real_server


def test_every_route_works_before_a_real_model(llama_server: LlamaServer, tmp_path: Path) -> None:
    async def scene() -> None:
        settings = load_settings({"no_auth": True, "data_dir": tmp_path, "api_base": llama_server.url})
        async with on_a_socket(Service(settings)) as client:
            ready = ReadyReply.model_validate((await client.get("/readyz")).json())
            assert [(check.name, check.ready) for check in ready.checks] == [("model", True)]
            body = {**QUESTION, "max_tokens": 24}
            planned = PlanReply.model_validate((await client.post("/v1/plan", json=body)).json())
            answer = AnswerReply.model_validate((await client.post("/v1/answer", json=body)).json())
            [call] = answer.trace
            assert answer.answer
            assert call.prompt_tokens == planned.plan.calls[0].prompt_tokens
            assert call.usage is not None
            assert call.usage.prompt_tokens == call.prompt_tokens
            streamed = await client.post("/v1/answer", json={**body, "stream": True})
            events = parsed(streamed.text)
            assert text_of(events).strip() == events[-1].data["answer"] == answer.answer
            modes = ["compact", "accumulate"]
            compared = CompareReply.model_validate(
                (await client.post("/v1/compare", json={**body, "modes": modes})).json()
            )
            assert [row.calls for row in compared.modes] == [1, 2]
            rewritten = await client.post(
                "/v1/rewrite",
                json={"question": "And the valve?", "history": [{"role": "user", "content": QUESTION["question"]}]},
            )
            assert rewritten.status_code == 200
            assert rewritten.json()["rewritten"]

    asyncio.run(scene())


def test_a_stopped_answer_stops_at_the_model_server(llama_server: LlamaServer, tmp_path: Path) -> None:
    async def scene() -> None:
        settings = load_settings({"no_auth": True, "data_dir": tmp_path, "api_base": llama_server.url})
        async with on_a_socket(Service(settings)) as client:
            body = {**QUESTION, "mode": "generation", "stream": True, "max_tokens": 1500}
            async with client.stream("POST", "/v1/answer", json=body) as reply:
                async for piece in reply.aiter_text():
                    if "text_delta" in piece:
                        break
                stopped = await client.delete(f"/v1/answers/{reply.headers['answer-id']}")
                assert stopped.json()["state"] in ("stopped", "done")  # a small model may have come to its end
            again = await asyncio.wait_for(client.post("/v1/answer", json={**QUESTION, "max_tokens": 4}), 60)
            assert again.status_code == 200

    asyncio.run(scene())


def test_a_model_server_that_is_not_there_is_told_by_readiness_and_answers(tmp_path: Path) -> None:
    async def scene() -> None:
        settings = load_settings(
            {"no_auth": True, "data_dir": tmp_path, "api_base": "http://127.0.0.1:9/v1", "index": "gone=nowhere"}
        )
        async with on_a_socket(Service(settings)) as client:
            reply = await client.get("/readyz")
            assert reply.status_code == 503
            ready = ReadyReply.model_validate(reply.json())
            assert [(check.name, check.ready, bool(check.reason)) for check in ready.checks] == [
                ("model", False, True),
                ("index:gone", False, True),
            ]
            assert "127.0.0.1:9" not in reply.text
            assert (await client.get("/healthz")).json() == {"status": "ok"}

    asyncio.run(scene())


def test_a_conversation_before_a_real_model_keeps_its_turns(llama_server: LlamaServer, tmp_path: Path) -> None:
    async def scene() -> None:
        settings = load_settings({"no_auth": True, "data_dir": tmp_path, "api_base": llama_server.url})
        service = Service(settings, indexes={"docs": an_index()})
        async with on_a_socket(service) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            path = f"/v1/sessions/{session}/messages"
            body = {"question": QUESTION["question"], "max_tokens": 24, "stream": True}
            events = parsed((await client.post(path, json=body)).text)
            first = SessionAnswerReply.model_validate(events[-1].data)
            follow_up = await client.post(path, json={"question": "And the valve?", "max_tokens": 24})
            second = SessionAnswerReply.model_validate(follow_up.json())
            assert [call.stage for call in second.trace][:1] == ["condense"]
            anew = await client.post(f"{path}/{second.reply_id}/regenerate", json={"max_tokens": 24})
            assert anew.status_code == 200
            messages = (await client.get(f"/v1/sessions/{session}")).json()["messages"]
            assert [(one["role"], one["status"]) for one in messages] == [
                ("user", "complete"),
                ("assistant", "complete"),
            ] * 2
            assert messages[1]["content"] == first.answer
            assert [one["text"] for one in messages[3]["earlier"]] == [second.answer]

    asyncio.run(scene())
