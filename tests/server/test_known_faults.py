"""Faults seen by running another answer service; each has its test here, with a scripted model server.

| seen there | here |
| --- | --- |
| a model whose deltas lack a reasoning field breaks think mode: 200 and nothing | `no reasoning field` |
| a chunk with empty `choices` (usage, a filter) ends the stream | `empty choices` |
| an upstream error or a wrong key: 200, then a cut connection, no error event | `test_a_failure_of_the_...` |
| the client asks again every second and appends | `test_a_failure_...` (one request), `done` is always last |
| an upstream 429 is asked again for ever | `test_a_model_server_that_is_busy_...` |
| a limit is told as raw text in an event stream: an empty answer box | `test_what_is_refused_is_never_a_stream` |
| the rewritten question replaces the user's own | `test_the_users_own_words_...` |
| shown hits are not those the answer was made from | `test_one_question_is_embedded_once_...` |
| up to 32 hits, an unbounded prompt | `test_a_prompt_never_outgrows_the_window` |
| reasoning is part of the answer, split at the first `---` | `reasoning with a rule in it` |
| an index name that matches nothing gives no hits | `test_what_is_refused_is_never_a_stream` |
| any role, any length is taken | `test_what_is_refused_is_never_a_stream` |
| retrieval blocks the loop: every other request waits | `test_nobody_waits_for_another_ones_search` |
| the same question is embedded four times | `test_one_question_is_embedded_once_...` |
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
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

from responsa.indices import VectorStoreIndex
from responsa.schema.nodes import Document
from responsa.server import Service, load_settings
from responsa.testing import ScriptedLLM
from responsa.testing.embedder import BagOfWordsEmbedder

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
            stream_of(delta("Oil"), {"choices": []}, delta("."), delta(reason="stop"), {"choices": [], "usage": USAGE}),
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

    run(scene)


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
    ],
    ids=lambda body: str(body)[:50],
)
def test_what_is_refused_is_never_a_stream(tmp_path: Path, body: dict[str, Any]) -> None:
    async def scene() -> None:
        llm = ScriptedLLM()
        async with in_process(a_service(tmp_path, llm, indexes={"docs": an_index()})) as client:
            refused = await client.post("/v1/answer", json=body)
            assert refused.status_code in (404, 422)
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


class HeldEmbedder(BagOfWordsEmbedder):
    """May be held up."""

    def __init__(self) -> None:
        super().__init__()
        self.gate: threading.Event | None = None
        self.begun = threading.Event()

    async def aget_query_embedding(self, query: str) -> list[float]:
        self.begun.set()
        if self.gate is not None:
            await asyncio.to_thread(self.gate.wait, 60)
        return await super().aget_query_embedding(query)


def index_with(embedder: BagOfWordsEmbedder, texts: Sequence[str]) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents([Document(text) for text in texts], embed_model=embedder)


@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize"])
def test_one_question_is_embedded_once_and_answered_from_the_hits_that_are_shown(tmp_path: Path, mode: str) -> None:
    async def scene() -> None:
        embedder, llm = BagOfWordsEmbedder(), ScriptedLLM("Oil [1].")
        index = index_with(embedder, [f"The pump number {n} needs oil." for n in range(20)])
        embedder.queries.clear()
        async with in_process(a_service(tmp_path, llm, indexes={"docs": index})) as client:
            body = {"question": "Which oil?", "mode": mode, "stream": True, "include_prompts": True}
            events = parsed((await client.post("/v1/answer", json=body)).text)
        assert embedder.queries == ["Which oil?"]
        [shown] = [event.data["hits"] for event in events if event.name == "sources"]
        assert len(shown) == 8
        prompts = " ".join(message.content for prompt in llm.prompts for message in prompt)
        assert all(hit["text"] in prompts for hit in shown)
        assert not any(hit["text"] in prompts for hit in events[-1].data["related"])

    run(scene)


def test_nobody_waits_for_another_ones_search(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = HeldEmbedder()
        embedder.gate = threading.Event()
        service = a_service(tmp_path, indexes={"docs": index_with(embedder, ["The pump needs oil."])})
        async with in_process(service) as client:
            slow = asyncio.ensure_future(client.post("/v1/search", json={"question": "Which oil?"}))
            await asyncio.to_thread(embedder.begun.wait, 60)
            assert (await client.get("/healthz")).status_code == 200
            given = await client.post("/v1/answer", json=QUESTION)
            assert given.json()["outcome"] == "answered"
            assert not slow.done()
            embedder.gate.set()
            assert (await slow).status_code == 200

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
