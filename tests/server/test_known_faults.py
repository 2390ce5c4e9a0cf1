"""Faults seen by running another answer service; each has its test here, with a scripted model server.

| seen there | here |
| --- | --- |
| a model whose deltas lack a reasoning field breaks think mode: 200 and nothing | `no reasoning field` |
| a chunk with empty `choices` (usage, a filter) ends the stream | `empty choices` |
| an upstream error or a wrong key: 200, then a cut connection, no error event | `test_a_failure_of_the_...` |
| the client asks again every second and appends | `test_a_failure_...` (one request), `done` is always last |
| an upstream 429 is asked again for ever | `test_a_model_server_that_is_busy_...` |
| a limit is told as raw text in an event stream: an empty answer box | `test_what_is_refused_is_never_a_stream` |
| the seventh message of a conversation is not answered any more | `test_a_conversation_has_no_last_round` |
| the rewritten question replaces the user's own | `test_the_users_own_words_...` |
| up to 32 hits, an unbounded prompt | `test_a_prompt_never_outgrows_the_window` |
| a prompt that is too long for the model cuts the connection | `test_a_prompt_that_the_model_server_...` |
| reasoning is part of the answer, split at the first `---` | `reasoning with a rule in it` |
| reasoning goes back to the model as history and is stored with feedback | `test_reasoning_is_neither_...` |
| any role, any length is taken | `test_what_is_refused_is_never_a_stream` |
| an index name that matches nothing gives no hits | `test_what_is_refused_is_never_a_stream` |
| shown hits are not those the answer was made from | `test_known_faults_of_search.py` |
| what one kind of search alone finds is dropped | `test_known_faults_of_search.py` |
| entries of one group hide one another | `test_known_faults_of_search.py` |
| retrieval blocks the loop: every other request waits | `test_known_faults_of_search.py` |
| the same question is embedded four times | `test_known_faults_of_search.py` |
| a database that fails is passed over, and feedback lost with "success" | `test_known_faults_of_databases.py` |
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults import (
    STREAM_HEAD,
    Close,
    FaultServer,
    Reset,
    answer_of,
    chunk,
    delta,
    event,
    reply,
    stream_of,
)
from tests.server.process import model_server
from tests.server.support import QUESTION, a_service, an_index, in_process, parsed, text_of

from responsa.server import Service, load_settings
from responsa.testing import ScriptedLLM

STREAMED = {**QUESTION, "stream": True}
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def before(faults: FaultServer, tmp_path: Path, **settings: Any) -> Service:
    """A service before a scripted model server."""
    values = {"no_auth": True, "data_dir": tmp_path, "api_base": faults.url, "context_window": 4096, "concurrency": 4}
    return Service(load_settings({**values, **settings}))


def run(scene: Callable[[], Any]) -> None:
    asyncio.run(scene())


@pytest.mark.parametrize(
    ("stream", "answer", "reasoning"),
    [
        pytest.param(
            stream_of(delta("<reasoning>I see.</reasoning>Oil."), delta(reason="stop")),
            *("Oil.", "I see."),
            id="no reasoning field, asked to reason between markers",
        ),
        pytest.param(stream_of(delta("Oil."), delta(reason="stop")), "Oil.", "", id="no reasoning field"),
        pytest.param(
            stream_of(
                {"choices": [], "prompt_filter_results": [{"prompt_index": 0}]},
                delta("Oil"),
                {"choices": []},
                delta("."),
                delta(reason="stop"),
                {"choices": [], "usage": USAGE},
            ),
            *("Oil.", ""),
            id="empty choices",
        ),
        pytest.param(
            stream_of(delta(None, reasoning_content="| a |\n---\nso"), delta("Oil.\n---\nMore."), delta(reason="stop")),
            *("Oil.\n---\nMore.", "| a |\n---\nso"),
            id="reasoning with a rule in it",
        ),
        pytest.param(
            stream_of(delta(None, reasoning="Hm"), delta(None, role="assistant"), delta("Oil."), delta(reason="stop")),
            *("Oil.", "Hm"),
            id="another name of the reasoning field",
        ),
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
def test_whatever_a_model_server_leaves_out_the_answer_and_its_reasoning_stay_apart(
    faults: FaultServer, tmp_path: Path, stream: bytes, answer: str, reasoning: str, streamed: bool
) -> None:
    async def scene() -> None:
        model_server(faults, stream)
        async with in_process(before(faults, tmp_path)) as client:
            said = await client.post("/v1/answer", json={**QUESTION, "think": True, "stream": streamed})
            done = parsed(said.text)[-1].data if streamed else said.json()
            assert (done["answer"], done["reasoning"]) == (answer, reasoning)
            if streamed:
                assert text_of(parsed(said.text)) == answer

    run(scene)


BEGUN = STREAM_HEAD + chunk(event(delta("It needs ")))


@pytest.mark.parametrize(
    ("script", "code", "given"),
    [
        (reply({"error": {"message": "secret place /srv/x"}}, 500), "request_refused", ""),
        (reply({"error": {"message": "wrong key sk-12345678"}}, 401), "authentication_failed", ""),
        (reply(b"<html>proxy</html>", 502), "request_refused", ""),
        (reply({"choices": "none"}), "bad_response", ""),
        ([BEGUN, Close()], "stream_interrupted", "It needs "),
        ([BEGUN, Reset()], "stream_interrupted", "It needs "),
        ([BEGUN, chunk(event({"error": {"message": "out of memory"}})), Close()], None, "It needs "),
    ],
    ids=["500", "wrong key", "a page of a proxy", "nonsense", "cut", "reset", "an error in the stream"],
)
@pytest.mark.parametrize("path", ["/v1/answer", "/v1/chat/completions"])
def test_a_failure_of_the_model_server_is_an_error_and_nothing_is_asked_again(
    faults: FaultServer, tmp_path: Path, script: Any, code: str | None, given: str, path: str
) -> None:
    async def scene() -> None:
        model_server(faults, script)
        body: Any = STREAMED
        if path != "/v1/answer":
            messages = [{"role": "user", "content": "Which oil?"}]
            body = {"model": "generation", "stream": True, "messages": messages}
        async with in_process(before(faults, tmp_path, api_key="sk-12345678")) as client:
            streamed = await client.post(path, json=body)
            assert streamed.status_code == 200
            if path == "/v1/answer":
                *_, error, done = parsed(streamed.text)
                assert (error.name, done.name, done.data["outcome"]) == ("error", "done", "failed")
                told = error.data["error"]["code"]
                assert text_of(parsed(streamed.text)) == given
            else:
                lines = [line[6:] for line in streamed.text.split("\n") if line.startswith("data: ")]
                assert lines[-1] == "[DONE]"
                told = json.loads(lines[-2])["error"]["code"]
                assert given in streamed.text
            assert code is None or told == code
            asked = faults.count("POST /v1/chat/completions")
            assert asked == 1 or not given
            assert asked <= 4
            whole = await client.post(path, json={**body, "stream": False})
            assert whole.status_code in (500, 502, 503)
            for text in (streamed.text, whole.text):
                assert faults.root not in text
                assert "sk-12345678" not in text

    run(scene)


def test_a_model_server_that_is_busy_is_asked_a_few_times_and_the_client_told_when_to_come_again(
    faults: FaultServer, tmp_path: Path
) -> None:
    async def scene() -> None:
        model_server(faults, reply({"error": {"message": "slow down"}}, 429, Retry_After="0"))
        async with in_process(before(faults, tmp_path)) as client:
            refused = await client.post("/v1/answer", json=QUESTION)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "rate_limited")
            assert int(refused.headers["retry-after"]) >= 1
            assert faults.count("POST /v1/chat/completions") <= 4
            *_, error, done = parsed((await client.post("/v1/answer", json=STREAMED)).text)
            assert (error.data["error"]["code"], done.data["outcome"]) == ("rate_limited", "failed")
            assert faults.count("POST /v1/chat/completions") <= 8

    run(scene)


def test_a_prompt_that_the_model_server_finds_too_long_is_an_error(faults: FaultServer, tmp_path: Path) -> None:
    async def scene() -> None:
        # The service counts anew by what the server says, and finds that nothing would fit.
        told = {"code": 400, "message": "request (5000 tokens) exceeds the available context size (4096 tokens)"}
        model_server(faults, reply({"error": told}, 400))
        async with in_process(before(faults, tmp_path)) as client:
            *_, error, done = parsed((await client.post("/v1/answer", json=STREAMED)).text)
            assert (error.data["error"]["code"], done.data["outcome"]) == ("window_too_small", "failed")

    run(scene)


def said(role: str, content: str, count: int = 1) -> dict[str, Any]:
    """A chat completion's request."""
    return {"model": "docs", "messages": [{"role": role, "content": content}] * count, "stream": True}


@pytest.mark.parametrize(
    "body",
    [
        {"question": "", "stream": True},
        {"question": "x" * 32_001, "stream": True},
        {"question": "x", "index": "forguncy", "stream": True},
        {"question": "x", "options": {"instructions": "x" * 2001}, "stream": True},
        {"question": "x", "nodes": [{"text": "a"}] * 1001, "stream": True},
        {"question": "x", "nodes": [{"text": "x" * 400_001}], "stream": True},
        {"question": "x", "top_k": 101, "stream": True},
        {"question": "x", "messages": [{"role": "system", "content": "x"}], "stream": True},
        {"question": "x", "think": "very", "stream": True},
        said("system", "Obey."),
        said("tool", "Obey."),
        said("user", "x" * 200_000),
        said("user", "x", 100_000),
        {**said("user", "x"), "model": "forguncy"},
        {**said("user", "x"), "responsa": {"options": {"instructions": "x" * 50_000}}},
    ],
    ids=lambda body: str(body)[:50],
)
def test_what_is_refused_is_never_a_stream(tmp_path: Path, body: dict[str, Any]) -> None:
    async def scene() -> None:
        llm = ScriptedLLM()
        async with in_process(a_service(tmp_path, llm, indexes={"docs": an_index()})) as client:
            path = "/v1/chat/completions" if "model" in body else "/v1/answer"
            refused = await client.post(path, json=body)
            assert refused.status_code in (400, 404, 422)
            assert refused.headers["content-type"] == "application/json"
            assert refused.json()["error"]["message"]
            assert llm.prompts == []

    run(scene)


def test_the_users_own_words_are_in_the_last_prompt_and_the_rewritten_ones_in_the_search(
    faults: FaultServer, tmp_path: Path
) -> None:
    async def scene() -> None:
        model_server(faults, answer_of("Which oil does the X200 pump need?"), answer_of("ISO VG 46 [1]."))
        settings = load_settings(
            {
                "no_auth": True,
                "data_dir": tmp_path,
                "api_base": faults.url,
                "context_window": 4096,
                "concurrency": 1,
            }
        )
        service = Service(settings, indexes={"docs": an_index()})
        messages = [
            {"role": "user", "content": "What is the X200?"},
            {"role": "assistant", "content": "A pump."},
            {"role": "user", "content": "and which oil does it need"},
        ]
        async with in_process(service) as client:
            said = await client.post("/v1/chat/completions", json={"model": "docs", "messages": messages})
        assert said.json()["responsa"]["searched_with"] == "Which oil does the X200 pump need?"
        last = faults.requests("POST /v1/chat/completions")[-1].json["messages"]
        assert "and which oil does it need" in last[-1]["content"]
        assert "Which oil does the X200 pump need?" not in json.dumps(last)

    run(scene)


def test_a_conversation_has_no_last_round(tmp_path: Path) -> None:
    async def scene() -> None:
        rounds = 12
        llm = ScriptedLLM(lambda messages: f"Answer {sum('Number' in one.content for one in messages)}.")
        async with in_process(a_service(tmp_path, llm)) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            for number in range(1, rounds + 1):
                body = {"question": f"Number {number}?", "mode": "generation", "stream": True}
                events = parsed((await client.post(f"/v1/sessions/{session}/messages", json=body)).text)
                assert (events[-1].name, text_of(events)) == ("done", f"Answer {number}.")

    run(scene)


def test_reasoning_is_neither_history_nor_feedback(faults: FaultServer, tmp_path: Path) -> None:
    async def scene() -> None:
        thought = delta(None, reasoning_content="Hm, oil?\n---\nYes.")
        model_server(faults, stream_of(thought, delta("Oil."), delta(reason="stop")))
        async with in_process(before(faults, tmp_path)) as client:
            session = (await client.post("/v1/sessions", json={})).json()["id"]
            body = {"question": "Which?", "mode": "generation", "think": True}
            first = (await client.post(f"/v1/sessions/{session}/messages", json=body)).json()
            await client.post(f"/v1/sessions/{session}/messages", json={**body, "question": "And why?"})
            about = {"session_id": session, "message_id": first["reply_id"], "rating": "up"}
            given = await client.post("/v1/feedback", json=about)
        assert (first["answer"], first["reasoning"]) == ("Oil.", "Hm, oil?\n---\nYes.")
        last = faults.requests("POST /v1/chat/completions")[-1]
        assert "Oil." in [message["content"] for message in last.json["messages"]]
        assert "Hm" not in last.body.decode()
        assert given.json()["answer"] == "Oil."

    run(scene)


def test_a_prompt_never_outgrows_the_window(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("Oil.", context_window=600, num_output=100)
        nodes = [{"text": f"{n} " + "The pump needs oil. " * 200} for n in range(32)]
        async with in_process(a_service(tmp_path, llm)) as client:
            said = await client.post("/v1/answer", json={"question": "Which oil?", "nodes": nodes, "mode": "compact"})
            assert said.status_code == 200
        assert llm.prompts
        assert max(llm.count_prompts(llm.prompts)) < 600

    run(scene)
