"""Every route before a real llama-server and a real embedding server. No test depends on what the model says."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import openai
import pytest
from tests.server.real_service import ROUTES, RealService, a_real_service, asks, number_of, until
from tests.server.support import QUESTION, events_in, parsed, text_of

from responsa.local.llama_server import LlamaServer
from responsa.server.models.replies import (
    AnswerReply,
    CompareReply,
    HitReply,
    PlanReply,
    ReadyReply,
    RewriteReply,
    SearchReply,
)
from responsa.server.models.sessions import SessionAnswerReply, SessionDetailReply

pytestmark = pytest.mark.real_server

MANUAL = "# Pump manual\n\nThe X200 pump needs ISO VG 46 oil."
SHORT = {"mode": "generation", "max_tokens": 4}
# Whatever the model would say, it is made to write this much of it.
ENDLESS: Any = {
    **{"question": "Count.", "mode": "generation", "stream": True, "max_tokens": 1500},
    "output_schema": {
        "type": "object",
        "properties": {"numbers": {"type": "array", "items": {"type": "integer"}, "minItems": 300}},
        "required": ["numbers"],
    },
}


@pytest.fixture(scope="module")
def running(
    llama_server: LlamaServer, embedding_server: LlamaServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RealService]:
    with a_real_service(tmp_path_factory.mktemp("real"), llama_server, embedding_server) as service:
        service.upload("manual.md", MANUAL)  # which makes the index
        yield service


@pytest.fixture
def service(running: RealService, request: pytest.FixtureRequest) -> Iterator[RealService]:
    """The service; the test asks the routes that it says it asks."""
    running.succeeded.clear()
    yield running
    assert [route for route in request.function.routes if not running.has_answered(route)] == []


@pytest.fixture
def client(service: RealService) -> httpx2.Client:
    return service.client


def test_every_route_is_asked_here(running: RealService) -> None:
    paths = running.client.get("/openapi.json").json()["paths"]
    assert {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods} == ROUTES


@asks("GET /healthz", "GET /readyz")
def test_the_service_its_servers_and_its_index_are_ready(client: httpx2.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = ReadyReply.model_validate(client.get("/readyz").json())
    assert [check.name for check in ready.checks] == ["model", "embeddings", "sessions", "records", "index:docs"]
    assert all(check.ready for check in ready.checks)


@asks("POST /v1/plan", "POST /v1/answer", "GET /metrics")
def test_a_planned_answer_takes_the_tokens_that_were_planned_and_they_are_counted(client: httpx2.Client) -> None:
    counted = 'responsa_tokens_total{kind="prompt",mode="accumulate"}'
    body = {**QUESTION, "mode": "accumulate", "max_tokens": 4}
    planned = PlanReply.model_validate(client.post("/v1/plan", json=body).json())
    answer = AnswerReply.model_validate(client.post("/v1/answer", json=body).json())
    assert [call.prompt_tokens for call in answer.trace] == [call.prompt_tokens for call in planned.plan.calls]
    used = [call.usage.prompt_tokens for call in answer.trace if call.usage is not None]
    assert used == [call.prompt_tokens for call in planned.plan.calls]
    assert number_of(client.get("/metrics").text, counted) >= sum(used)
    again = PlanReply.model_validate(client.post("/v1/plan", json=body).json()).plan
    assert again.seconds is not None
    assert again.seconds_to_first_word is not None
    assert 0 < again.seconds_to_first_word <= again.seconds


@asks("POST /v1/answer", "GET /v1/answers/{answer_id}/events")
def test_a_stream_that_was_lost_goes_on_where_it_was_and_nothing_is_generated_again(client: httpx2.Client) -> None:
    body = {**QUESTION, "max_tokens": 24, "stream": True}
    with client.stream("POST", "/v1/answer", json=body) as reply:
        heard = []
        for event in events_in(reply):
            heard.append(event)
            if event.name == "text_delta":
                break
        answer_id = reply.headers["answer-id"]
    rest = parsed(client.get(f"/v1/answers/{answer_id}/events", headers={"Last-Event-ID": str(heard[-1].id)}).text)
    whole = parsed(client.get(f"/v1/answers/{answer_id}/events").text)
    assert [*heard, *rest] == whole
    answer = AnswerReply.model_validate(whole[-1].data)
    assert text_of(whole).strip() == answer.answer
    assert [call.stage for call in answer.trace] == ["answer"]


@asks("POST /v1/answer", "DELETE /v1/answers/{answer_id}")
def test_a_stopped_answer_frees_the_slot_of_the_model_server(service: RealService) -> None:
    until(lambda: service.slots_taken() == 0)
    before = service.tokens_generated()
    with service.client.stream("POST", "/v1/answer", json=ENDLESS) as reply:
        until(lambda: service.slots_taken() == 1)
        stopped = service.client.delete(f"/v1/answers/{reply.headers['answer-id']}")
        *_, error, done = events_in(reply)
    assert stopped.json()["state"] == "stopped"
    assert (error.name, done.name, done.data["outcome"]) == ("error", "done", "stopped")
    until(lambda: service.slots_taken() == 0)
    assert service.tokens_generated() - before < 300


@asks("POST /v1/answer")
@pytest.mark.parametrize("stream", [True, False])
def test_the_markers_a_model_is_asked_to_reason_between_never_reach_the_answer(
    client: httpx2.Client, stream: bool
) -> None:
    body = {"question": "Two and two?", "mode": "generation", "think": True, "max_tokens": 48, "stream": stream}
    reply = client.post("/v1/answer", json=body)
    done = parsed(reply.text)[-1].data if stream else reply.json()
    answer = AnswerReply.model_validate(done)
    assert "reasoning>" not in answer.answer + answer.reasoning
    if stream:
        assert text_of(parsed(reply.text)).strip() == answer.answer


@asks("POST /v1/answer")
def test_an_answer_has_the_form_that_was_asked_for(client: httpx2.Client) -> None:
    schema = {
        "type": "object",
        "properties": {"litres": {"type": "integer", "enum": [1, 2, 3]}, "sure": {"type": "boolean"}},
        "required": ["litres", "sure"],
    }
    reply = client.post("/v1/answer", json={**QUESTION, "output_schema": schema, "max_tokens": 40})
    value = AnswerReply.model_validate(reply.json()).value
    assert value["litres"] in (1, 2, 3)
    assert value["sure"] in (True, False)


@asks("POST /v1/compare")
def test_ways_of_answering_are_compared_on_the_same_passages(client: httpx2.Client) -> None:
    body = {**QUESTION, "modes": ["compact", "accumulate"], "max_tokens": 4}
    compared = CompareReply.model_validate(client.post("/v1/compare", json=body).json())
    assert [(row.mode, row.calls) for row in compared.modes] == [("compact", 1), ("accumulate", 2)]
    assert all(row.usage.prompt_tokens for row in compared.modes)


@asks("POST /v1/rewrite")
def test_a_follow_up_is_rewritten(client: httpx2.Client) -> None:
    history = [{"role": "user", "content": "Which oil does the pump need?"}]
    reply = client.post("/v1/rewrite", json={"question": "And the valve?", "history": history})
    assert RewriteReply.model_validate(reply.json()).rewritten


@asks("POST /v1/search")
@pytest.mark.parametrize("by", ["hybrid", "meaning", "words"])
def test_a_search_finds_the_passage(client: httpx2.Client, by: str) -> None:
    found = client.post("/v1/search", json={"question": "X200 oil", "by": by, "top_k": 100})
    hits = SearchReply.model_validate(found.json()).hits
    assert "The X200 pump needs ISO VG 46 oil." in [hit.text.splitlines()[-1] for hit in hits]


@asks("POST /v1/documents", "GET /v1/jobs/{job_id}", "POST /v1/answer")
def test_a_document_that_was_sent_is_what_an_answer_is_made_from_and_cites(service: RealService) -> None:
    sent = service.upload("x300.md", "The X300 pump needs ISO VG 68 oil.")
    body = {"question": "Which oil does the X300 pump need?", "top_k": 1, "max_tokens": 24}
    answer = AnswerReply.model_validate(service.client.post("/v1/answer", json=body).json())
    [hit] = answer.hits
    assert is_of(hit, sent)
    assert hit.shown == "whole"
    assert [call.hits for call in answer.trace] == [[1]]
    assert {one.id for one in answer.citations if one.known} <= {hit.id}  # whether there are any is the model's affair
    assert hit.spans == [one for one in answer.citations if one.number == 1]


def is_of(hit: HitReply, document: dict[str, Any]) -> bool:
    return (hit.document_id or "").partition(".")[0] == document["id"]


@asks(
    *("GET /v1/documents", "GET /v1/documents/{document_id}", "DELETE /v1/documents/{document_id}"),
    *("POST /v1/documents/{document_id}/reindex", "POST /v1/documents/reindex"),
)
def test_a_document_is_indexed_anew_and_deleted_with_its_passages(service: RealService) -> None:
    client = service.client
    sent = service.upload("valve.md", "The Q7 valve opens at 3 bar.")

    def is_found() -> bool:
        found = client.post("/v1/search", json={"question": "Q7 valve", "by": "words"}).json()["hits"]
        return any(is_of(HitReply.model_validate(hit), sent) for hit in found)

    job = service.done(client.post(f"/v1/documents/{sent['id']}/reindex").json()["id"])
    assert (job.kind, job.embedded) == ("reindex", 1)
    everything = service.done(client.post("/v1/documents/reindex").json()["id"])
    assert everything.files_done == len(client.get("/v1/documents").json()["documents"])
    assert client.get(f"/v1/documents/{sent['id']}").json()["state"] == "indexed"
    assert sent["id"] in [one["id"] for one in client.get("/v1/documents").json()["documents"]]
    assert is_found()
    service.done(client.delete(f"/v1/documents/{sent['id']}").json()["id"])
    assert client.get(f"/v1/documents/{sent['id']}").status_code == 404
    assert not is_found()


@asks("POST /v1/entries")
def test_a_knowledge_entry_is_found_with_its_fields(service: RealService) -> None:
    entry = {"question": "Which belt does the Z9 need?", "answer": "B38.", "category": "Belts", "extra": {"ticket": 7}}
    reply = service.client.post("/v1/entries", json={"name": "faq", "entries": [entry]})
    service.done(reply.json()["job"]["id"])
    found = service.client.post("/v1/search", json={"question": "Z9 belt", "by": "words"}).json()["hits"]
    assert {name: found[0][name] for name in entry} == entry


@asks("GET /v1/jobs", "DELETE /v1/jobs/{job_id}", "POST /v1/jobs/{job_id}/run")
def test_a_job_is_cancelled_while_the_embedding_server_hangs_and_done_when_run_again(service: RealService) -> None:
    with hanging(service.embedding):
        files = [("files", ("late.md", b"The K4 hose is blue."))]
        job_id = service.client.post("/v1/documents", files=files).json()["job"]["id"]
        until(lambda: service.job(job_id).state == "running")
        assert service.client.delete(f"/v1/jobs/{job_id}").json()["state"] == "cancelled"
    assert service.client.post(f"/v1/jobs/{job_id}/run").status_code == 202
    assert service.done(job_id).attempts == 2
    assert job_id in [job["id"] for job in service.client.get("/v1/jobs").json()["jobs"]]


@contextmanager
def hanging(server: LlamaServer) -> Iterator[None]:
    """Let a server be there, and say nothing."""
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@pytest.fixture
def session(running: RealService) -> str:
    return str(running.client.post("/v1/sessions", json={}).json()["id"])


@asks("POST /v1/sessions/{session_id}/messages", "GET /v1/sessions/{session_id}")
def test_a_follow_up_is_searched_for_in_other_words_and_both_turns_are_kept(
    client: httpx2.Client, session: str
) -> None:
    path = f"/v1/sessions/{session}/messages"
    body = {"question": "Which oil does the X200 pump need?", "max_tokens": 8, "top_k": 1}
    events = parsed(client.post(path, json={**body, "stream": True}).text)
    first = SessionAnswerReply.model_validate(events[-1].data)
    second = SessionAnswerReply.model_validate(client.post(path, json={**body, "question": "And the valve?"}).json())
    assert [call.stage for call in second.trace] == ["condense", "answer"]
    messages = SessionDetailReply.model_validate(client.get(f"/v1/sessions/{session}").json()).messages
    assert [one.content for one in messages] == [first.question, first.answer, second.question, second.answer]
    assert [one.status for one in messages] == ["complete"] * 4
    assert messages[1].hits == first.hits


@asks(
    "POST /v1/sessions/{session_id}/messages/{message_id}/edit",
    "POST /v1/sessions/{session_id}/messages/{message_id}/regenerate",
)
def test_a_question_is_edited_and_its_answer_written_anew(client: httpx2.Client, session: str) -> None:
    path = f"/v1/sessions/{session}/messages"
    first = client.post(path, json={**SHORT, "question": "One?"}).json()
    edited = client.post(f"{path}/{first['message_id']}/edit", json={**SHORT, "question": "Two?"}).json()
    anew = client.post(f"{path}/{edited['reply_id']}/regenerate", json=SHORT).json()
    assert first["message_id"] == edited["message_id"] == anew["message_id"]
    question, answer = SessionDetailReply.model_validate(client.get(f"/v1/sessions/{session}").json()).messages
    assert (question.content, [one.text for one in question.earlier]) == ("Two?", ["One?"])
    assert (answer.content, [one.text for one in answer.earlier]) == (anew["answer"], [edited["answer"]])


@asks(
    *("POST /v1/sessions", "GET /v1/sessions", "PATCH /v1/sessions/{session_id}", "DELETE /v1/sessions/{session_id}"),
    *("POST /v1/sessions/{session_id}/fork", "GET /v1/sessions/{session_id}/export"),
)
def test_a_session_is_renamed_forked_exported_and_deleted(client: httpx2.Client) -> None:
    session = client.post("/v1/sessions", json={}).json()["id"]
    said = client.post(f"/v1/sessions/{session}/messages", json={**SHORT, "question": "One?"}).json()
    assert client.patch(f"/v1/sessions/{session}", json={"title": "Pumps"}).json()["title"] == "Pumps"
    fork = client.post(f"/v1/sessions/{session}/fork", json={"message_id": said["reply_id"]}).json()
    assert client.delete(f"/v1/sessions/{session}").json() == {"id": session, "deleted": True}
    sessions = {one["id"]: one["title"] for one in client.get("/v1/sessions?limit=200").json()["sessions"]}
    assert session not in sessions
    assert sessions[fork["id"]] == "Pumps"
    taken = client.get(f"/v1/sessions/{fork['id']}/export", params={"format": "json"}).json()
    texts = [block["text"] for one in taken["messages"] for block in one["message"]["blocks"]]
    assert texts == ["One?", said["answer"]]
    assert said["answer"] in client.get(f"/v1/sessions/{fork['id']}/export").text


@asks("POST /v1/feedback", "GET /v1/feedback", "DELETE /v1/feedback/{feedback_id}")
def test_feedback_is_kept_with_the_answer_it_is_about(client: httpx2.Client, session: str) -> None:
    said = client.post(f"/v1/sessions/{session}/messages", json={**SHORT, "question": "One?"}).json()
    about = {"session_id": session, "message_id": said["reply_id"]}
    given = client.post("/v1/feedback", json={**about, "rating": "up"}).json()
    assert given["answer"] == said["answer"]
    assert given in client.get("/v1/feedback").json()["feedback"]
    assert client.delete(f"/v1/feedback/{given['id']}").json()["deleted"]


@asks("GET /v1/models", "GET /v1/models/{model}", "POST /v1/chat/completions")
def test_the_openai_package_gets_an_answer_whole_and_in_pieces(service: RealService) -> None:
    asked: Any = {"model": "docs/compact", "messages": [{"role": "user", "content": "Which oil?"}], "max_tokens": 12}
    options: Any = {"extra_body": {"responsa": {"top_k": 1}}, "temperature": 0.0, "seed": 1}
    url = f"{service.client.base_url}/v1"
    asking = openai.OpenAI(base_url=url, api_key="none", max_retries=0, http_client=service.client)
    assert "docs/compact" in [model.id for model in asking.models.list()]
    assert asking.models.retrieve("docs/compact").id == "docs/compact"
    whole = asking.chat.completions.create(**asked, **options)
    assert whole.usage is not None
    assert 0 < whole.usage.completion_tokens <= 12
    stream = asking.chat.completions.create(**asked, **options, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    # A model that has a part of the prompt in its cache need not write the same again.
    assert text.strip()
    assert (whole.choices[0].message.content or "").strip()
    assert chunks[-1].usage is not None
    assert 0 < chunks[-1].usage.completion_tokens <= 12
    assert json.loads(whole.model_dump_json())["responsa"]["hits"]
