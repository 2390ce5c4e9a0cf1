"""Answers over HTTP: from passages given, from an index, whole and as events."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.server.support import ANSWER, PASSAGES, QUESTION, a_service, an_index, in_process, parsed, text_of

from responsa.schema.errors import ServerUnreachable
from responsa.server.models.replies import AnswerReply, ErrorReply, FailedReply, SearchReply
from responsa.testing import ScriptedLLM


@pytest.mark.parametrize(
    ("metadata", "fault"),
    [
        ('{"a": "\\ud800"}', "half a character"),
        ('{"\\udfff": 1}', "half a character"),
        ('{"a": NaN}', "not JSON compliant"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "more than 32 levels deep"),
    ],
)
def test_metadata_that_could_not_be_given_back_is_refused(tmp_path: Path, metadata: str, fault: str) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            body = '{"question": "Which oil?", "nodes": [{"text": "Oil.", "metadata": ' + metadata + "}]}"
            reply = await client.post("/v1/answer", content=body, headers={"Content-Type": "application/json"})
            assert reply.status_code == 422
            message = reply.json()["error"]["message"]
            assert "nodes.0.metadata" in message
            assert fault in message

    asyncio.run(scene())


def test_an_answer_from_passages_given_is_the_structured_answer(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            reply = await client.post("/v1/answer", json=QUESTION)
            assert reply.status_code == 200
            answer = AnswerReply.model_validate(reply.json())
            assert (answer.outcome, answer.answer, answer.grounded) == ("answered", ANSWER, True)
            assert [(hit.number, hit.id, hit.shown, hit.cited) for hit in answer.hits] == [
                (1, "pump", "whole", True),
                (2, "valve", "whole", False),
            ]
            assert (answer.hits[0].title, answer.hits[0].page) == ("Pump manual", 3)
            assert answer.hits[1].url == "https://docs.example/valve"
            [span] = answer.hits[0].spans
            assert answer.answer[span.sentence.start : span.sentence.end] == ANSWER
            assert span.quoted == PASSAGES[0]["text"]
            assert answer.usage.completion_tokens
            assert [(call.stage, call.hits, call.messages) for call in answer.trace] == [("answer", [1, 2], None)]

    asyncio.run(scene())


def test_a_stream_gives_the_events_in_order_and_ends_with_the_same_answer(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            reply = await client.post("/v1/answer", json={**QUESTION, "stream": True})
            assert reply.status_code == 200
            assert reply.headers["content-type"].startswith("text/event-stream")
            assert reply.headers["x-accel-buffering"] == "no"
            events = parsed(reply.text)
            assert [event.id for event in events] == list(range(1, len(events) + 1))
            names = list(dict.fromkeys(event.name for event in events))
            assert names == [
                *("started", "plan", "sources", "step_started", "text_delta", "citation", "step_finished", "done"),
            ]
            assert text_of(events) == ANSWER
            last = AnswerReply.model_validate(events[-1].data)
            assert last.answer == ANSWER
            assert last.answer_id == events[0].data["answer_id"] == reply.headers["answer-id"]

    asyncio.run(scene())


def test_an_index_is_searched_and_what_was_not_used_is_related(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, indexes={"docs": an_index()})
        async with in_process(service) as client:
            question = {"question": "Which oil does the X200 pump need?", "top_k": 1}
            named = await client.post("/v1/answer", json={**question, "index": "docs"})
            default = await client.post("/v1/answer", json=question)
            for reply in (named, default):
                answer = AnswerReply.model_validate(reply.json())
                assert [hit.document_id for hit in answer.hits] == ["pump"]
                assert [hit.number for hit in answer.related] == [2, 3]
                assert {hit.document_id for hit in answer.related} == {"valve", "library"}
            assert "/secret/place" not in named.text
            unknown = await client.post("/v1/answer", json={**question, "index": "../docs"})
            assert unknown.status_code == 404
            assert ErrorReply.model_validate(unknown.json()).error.code == "unknown_index"

    asyncio.run(scene())


def test_a_search_gives_hits_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM()
        async with in_process(a_service(tmp_path, llm, indexes={"docs": an_index()})) as client:
            for by in ("hybrid", "meaning", "words"):
                reply = await client.post("/v1/search", json={"question": "X200 pump oil", "top_k": 1, "by": by})
                found = SearchReply.model_validate(reply.json())
                assert [hit.document_id for hit in found.hits] == ["pump"]
            assert llm.prompts == []

    asyncio.run(scene())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_failure_has_its_status_before_the_headers_and_is_an_event_after_them(tmp_path: Path, language: str) -> None:
    error = ServerUnreachable("http://secret.internal:8080/v1", "connection refused", "")

    async def scene() -> None:
        async with in_process(a_service(tmp_path, ScriptedLLM(error))) as client:
            headers = {"Accept-Language": language}
            whole = await client.post("/v1/answer", json=QUESTION, headers=headers)
            assert whole.status_code == 502
            assert ErrorReply.model_validate(whole.json()).error.code == "server_unreachable"
            streamed = await client.post("/v1/answer", json={**QUESTION, "stream": True}, headers=headers)
            events = parsed(streamed.text)
            assert [event.name for event in events[-2:]] == ["error", "done"]
            failed = FailedReply.model_validate(events[-1].data)
            assert failed.outcome == "failed"
            assert events[-2].data["error"] == failed.error.model_dump()
            assert ("没有模型服务器" in failed.error.message) == (language == "zh")
            assert "secret.internal" not in whole.text + streamed.text

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"question": ""}, "question"),
        ({"question": "   ", "nodes": []}, "empty"),
        ({"question": "x" * 40_000}, "question"),
        ({"question": "x", "nodes": PASSAGES, "mode": "clever"}, "mode"),
        ({"question": "x", "nodes": PASSAGES, "temprature": 1}, "temprature"),
        ({"question": "x", "nodes": [{"text": ""}]}, "nodes.0.text"),
        ({"question": "x", "nodes": [{"text": "a"}] * 1001}, "nodes"),
        ({"question": "x", "nodes": PASSAGES, "top_k": 0}, "top_k"),
        ({"question": "x", "nodes": PASSAGES, "index": "docs"}, "nodes"),
        ({"question": "x"}, "nodes"),
        ([1, 2], "object"),
    ],
)
def test_a_wrong_request_is_refused_with_its_fault_named(tmp_path: Path, body: object, fault: str) -> None:
    async def scene() -> None:
        llm = ScriptedLLM()
        async with in_process(a_service(tmp_path, llm)) as client:
            reply = await client.post("/v1/answer", json=body)
            assert reply.status_code == 422
            assert fault in ErrorReply.model_validate(reply.json()).error.message
            assert llm.prompts == []

    asyncio.run(scene())
