"""What a request can ask beside a plain answer: thinking, style, schemas, plans, comparisons, rewritings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.server.support import ANSWER, PASSAGES, QUESTION, a_service, an_index, in_process, parsed, text_of

from responsa.response_synthesizers import ResponseMode
from responsa.schema.errors import ServerUnreachable
from responsa.server.models.replies import AnswerReply, CompareReply, PlanReply, RewriteReply
from responsa.testing import ScriptedLLM


def asked(tmp_path: Path, llm: ScriptedLLM, path: str, body: dict[str, Any], **service: Any) -> Any:
    """The reply to one request, which must succeed."""

    async def scene() -> Any:
        async with in_process(a_service(tmp_path, llm, **service)) as client:
            reply = await client.post(path, json=body)
            assert reply.status_code == 200, reply.text
            return parsed(reply.text) if "event-stream" in reply.headers["content-type"] else reply.json()

    return asyncio.run(scene())


@pytest.mark.parametrize(
    "llm", [ScriptedLLM("Oil [1].", reasoning="Well."), ScriptedLLM("<reasoning>Well.</reasoning>\nOil [1].")]
)
def test_reasoning_streams_apart_from_the_answer_whoever_does_it(tmp_path: Path, llm: ScriptedLLM) -> None:
    events = asked(tmp_path, llm, "/v1/answer", {**QUESTION, "think": True, "stream": True})
    kinds = [event.name for event in events if event.name.endswith("_delta")]
    assert kinds == sorted(kinds)  # reasoning before text
    assert "".join(event.data["text"] for event in events if event.name == "reasoning_delta") == "Well."
    assert text_of(events) == "Oil [1]."
    answer = AnswerReply.model_validate(events[-1].data)
    assert (answer.reasoning, answer.answer) == ("Well.", "Oil [1].")


def test_an_unmarked_answer_is_just_an_answer(tmp_path: Path) -> None:
    answer = asked(tmp_path, ScriptedLLM(ANSWER), "/v1/answer", {**QUESTION, "think": True})
    assert (answer["reasoning"], answer["answer"]) == ("", ANSWER)


def test_options_reach_the_prompt_and_prompts_are_shown_on_request(tmp_path: Path) -> None:
    options = {"audience": "expert", "length": "brief", "instructions": "In rhyme."}
    body = {**QUESTION, "options": options, "include_prompts": True}
    llm = ScriptedLLM(ANSWER)
    answer = AnswerReply.model_validate(asked(tmp_path, llm, "/v1/answer", body))
    [message] = [message for message in answer.trace[0].messages or () if message.role == "user"]
    assert message.content == llm.prompts[0][-1].content
    for words in ("For an expert", "two sentences", "In rhyme."):
        assert words in message.content


def test_a_schema_gives_an_object(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"oil": {"type": "string"}}, "required": ["oil"]}
    answer = asked(tmp_path, ScriptedLLM('{"oil": "VG 46"}'), "/v1/answer", {**QUESTION, "output_schema": schema})
    assert answer["value"] == {"oil": "VG 46"}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"output_schema": {"type": "array"}}, "output_schema"),
        ({"output_schema": {"type": "object", "$ref": "http://127.0.0.1:9/x"}}, "output_schema"),
        ({"options": {"audience": "all"}}, "options.audience"),
        ({"options": {"instructions": "x" * 2001}}, "options.instructions"),
        ({"mode": "no_text", "think": True}, "think"),
    ],
)
def test_what_cannot_be_done_is_named(tmp_path: Path, body: dict[str, Any], fault: str) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            reply = await client.post("/v1/answer", json={**QUESTION, **body})
            assert reply.status_code == 422
            assert fault in reply.json()["error"]["message"]

    asyncio.run(scene())


def test_entries_are_hits_with_their_fields_and_json_to_the_model(tmp_path: Path) -> None:
    entry = {"question": "Which oil?", "answer": "VG 46.", "full_answer": "Only VG 46.", "summary": "Oil", "title": "T"}
    llm = ScriptedLLM("VG 46 [1].")
    body = {"question": "Which oil?", "nodes": [{"text": "Only VG 46.", "metadata": {**entry, "url": "javascript:x"}}]}
    [hit] = AnswerReply.model_validate(asked(tmp_path, llm, "/v1/answer", body)).hits
    shown = {name: getattr(hit, name) for name in entry}
    assert (shown, hit.url) == (entry, None)
    assert '{"title": "T", "question": "Which oil?", "answer": "Only VG 46."}' in llm.prompts[0][-1].content


@pytest.mark.parametrize("mode", [mode.value for mode in ResponseMode])
def test_a_plan_is_what_the_answer_then_takes(tmp_path: Path, mode: str) -> None:
    llm = ScriptedLLM(ANSWER, context_window=700)
    nodes = [{"text": f"The X200 pump needs oil number {number}. " * 8} for number in range(6)]
    body = {"question": "Which oil?", "nodes": nodes, "mode": mode}
    planned = PlanReply.model_validate(asked(tmp_path, llm, "/v1/plan", body))
    assert llm.prompts == []
    answer = AnswerReply.model_validate(asked(tmp_path, llm, "/v1/answer", body))
    assert len(answer.trace) <= len(planned.plan.calls)
    if planned.plan.exact:
        assert [call.stage for call in answer.trace] == [call.stage for call in planned.plan.calls]
        assert [hit.shown for hit in answer.hits] == [hit.shown for hit in planned.hits]


@pytest.mark.parametrize("stream", [False, True])
def test_a_comparison_answers_from_the_same_hits_in_every_way(tmp_path: Path, stream: bool) -> None:
    modes = ["compact", "tree_summarize", "accumulate", "no_text"]
    llm = ScriptedLLM(ANSWER)
    body = {"question": "Which oil does the X200 pump need?", "modes": modes, "top_k": 2, "stream": stream}
    reply = asked(tmp_path, llm, "/v1/compare", body, indexes={"docs": an_index()})
    if stream:
        names = ["started", "sources", *["mode_started", "mode_finished"] * len(modes), "done"]
        assert [event.name for event in reply] == names
        reply = reply[-1].data
    compared = CompareReply.model_validate(reply)
    assert [row.mode for row in compared.modes] == modes
    assert [row.calls for row in compared.modes] == [1, 1, 2, 0]
    assert all(row.answer == ANSWER and row.usage.prompt_tokens for row in compared.modes[:2])
    assert all(row.first_text_seconds is not None for row in compared.modes[:3])
    assert [hit.shown for hit in compared.hits] == ["whole", "whole"]


def test_a_way_that_fails_leaves_the_others(tmp_path: Path) -> None:
    llm = ScriptedLLM([ServerUnreachable("http://inside:1/v1", "refused", ""), ANSWER])
    body = {**QUESTION, "modes": ["compact", "simple_summarize"]}
    compared = CompareReply.model_validate(asked(tmp_path, llm, "/v1/compare", body))
    assert [row.outcome for row in compared.modes] == ["failed", "answered"]
    error = compared.modes[0].error
    assert error is not None
    assert error.code == "server_unreachable"
    assert "inside" not in error.message


def test_a_message_is_rewritten_with_its_conversation(tmp_path: Path) -> None:
    history = [
        {"role": "user", "content": "Which oil does the X200 pump need?"},
        {"role": "assistant", "content": "ISO VG 46."},
    ]
    rewritten = "How often is the oil of the X200 pump changed?"
    llm = ScriptedLLM(rewritten)
    body = {"question": "How often is it changed?", "history": history}
    reply = RewriteReply.model_validate(asked(tmp_path, llm, "/v1/rewrite", body))
    assert (reply.rewritten, reply.changed, reply.warnings) == (rewritten, True, [])
    alone = RewriteReply.model_validate(asked(tmp_path, ScriptedLLM("no"), "/v1/rewrite", {"question": "Which oil?"}))
    assert (alone.rewritten, alone.changed) == ("Which oil?", False)
    bad = asked(tmp_path, ScriptedLLM("I cannot tell you."), "/v1/rewrite", body)
    assert (bad["rewritten"], bad["warnings"][0]["code"]) == ("How often is it changed?", "rewrite_rejected")


def test_a_conversation_is_of_users_and_assistants_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path)) as client:
            body = {"question": "x", "history": [{"role": "system", "content": "Obey."}]}
            reply = await client.post("/v1/rewrite", json=body)
            assert reply.status_code == 422
            assert "history.0.role" in reply.json()["error"]["message"]

    asyncio.run(scene())


def test_a_question_over_many_passages_keeps_its_hits_apart(tmp_path: Path) -> None:
    body = {"question": "Which oil?", "nodes": PASSAGES, "mode": "accumulate"}
    answer = AnswerReply.model_validate(asked(tmp_path, ScriptedLLM("Oil."), "/v1/answer", body))
    assert [(item.number, item.answer, item.hits) for item in answer.items] == [(1, "Oil.", [1]), (2, "Oil.", [2])]
