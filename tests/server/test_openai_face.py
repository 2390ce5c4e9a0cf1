"""The OpenAI-compatible face over a real socket, asked by the real `openai` package and by curl."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI
from tests.server.support import ANSWER, PASSAGES, SteppedLLM, a_service, an_index, in_process, on_a_socket

from responsa.schema.errors import ServerUnreachable
from responsa.schema.messages import ChatMessage
from responsa.server import Service
from responsa.server.openai.naming import MODES
from responsa.server.openai.replies import ChatCompletionReply, OpenAIErrorReply
from responsa.testing import ScriptedLLM

ASKED: Any = [{"role": "user", "content": "Which oil does the X200 pump need?"}]


@asynccontextmanager
async def the_package(service: Service, key: str = "none") -> AsyncIterator[AsyncOpenAI]:
    async with (
        on_a_socket(service) as client,
        AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key=key, max_retries=0, timeout=60) as asking,
    ):
        yield asking


def with_docs(tmp_path: Path, llm: Any = None, **settings: Any) -> Service:
    return a_service(tmp_path, llm, indexes={"docs": an_index(), "notes": an_index()}, **settings)


def run(scene: Callable[[], Any]) -> None:
    asyncio.run(scene())


def test_every_index_with_every_mode_is_a_model(tmp_path: Path) -> None:
    async def scene() -> None:
        async with the_package(with_docs(tmp_path)) as client:
            names = [model.id async for model in client.models.list()]
            assert names[0] == "docs/compact"
            assert sorted(names) == sorted(f"{index}/{mode.value}" for index in ("docs", "notes") for mode in MODES)
            assert (await client.models.retrieve("notes/refine")).id == "notes/refine"
            with pytest.raises(openai.NotFoundError) as caught:
                await client.models.retrieve("notes/no_text")
            assert caught.value.code == "model_not_found"

    run(scene)


def test_an_answer_comes_with_usage_annotations_and_its_sources(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("The valve opens at 3 bar [2].")
        async with the_package(a_service(tmp_path, llm)) as client:
            reply = await client.chat.completions.create(
                model="compact", messages=ASKED, extra_body={"responsa": {"nodes": PASSAGES}}
            )
            ChatCompletionReply.model_validate_json(reply.model_dump_json(exclude_unset=True))
            [choice] = reply.choices
            assert (choice.message.content, choice.finish_reason) == ("The valve opens at 3 bar [2].", "stop")
            [note] = choice.message.annotations or []
            assert note.url_citation.url == "https://docs.example/valve"
            assert reply.usage is not None
            assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens > 0
            extension: Any = reply.model_extra
            assert [hit["cited"] for hit in extension["responsa"]["hits"]] == [False, True]
            assert extension["responsa"]["outcome"] == "answered"

    run(scene)


@pytest.mark.parametrize("mode", [mode.value for mode in MODES])
def test_a_stream_gives_in_every_mode_what_a_whole_answer_gives(tmp_path: Path, mode: str) -> None:
    async def scene() -> None:
        llm = ScriptedLLM(lambda messages: f"{messages[-1].content.count('oil')} oils [1].", context_window=500)
        async with the_package(with_docs(tmp_path, llm)) as client:
            whole = await client.chat.completions.create(model=f"docs/{mode}", messages=ASKED)
            text, last, used = "", None, None
            stream = await client.chat.completions.create(
                model=f"docs/{mode}", messages=ASKED, stream=True, stream_options={"include_usage": True}
            )
            async for chunk in stream:
                assert chunk.object == "chat.completion.chunk"
                if chunk.choices:
                    text += chunk.choices[0].delta.content or ""
                    last = chunk
                else:
                    used = chunk.usage
            assert text == whole.choices[0].message.content
            assert used == whole.usage
            assert last is not None
            assert last.choices[0].finish_reason == "stop"
            said, told = dict(last.model_extra or {})["responsa"], dict(whole.model_extra or {})["responsa"]
            assert said.pop("answer_id") != told.pop("answer_id")
            assert said == told

    run(scene)


def test_a_stream_gives_each_piece_as_the_model_writes_it_and_reasoning_apart(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One ", "two."])
        async with the_package(with_docs(tmp_path, llm)) as client:
            stream = await client.chat.completions.create(model="docs", messages=ASKED, stream=True)
            chunks = aiter(stream)
            assert (await anext(chunks)).choices[0].delta.role == "assistant"
            for piece in llm.pieces:
                llm.allow()
                assert (await anext(chunks)).choices[0].delta.content == piece
            await stream.close()
        thinking = ScriptedLLM("Oil.", reasoning="Let me see.")
        async with the_package(with_docs(tmp_path, thinking)) as client:
            whole = await client.chat.completions.create(model="docs", messages=ASKED)
            assert whole.choices[0].message.content == "Oil."
            assert dict(whole.choices[0].message.model_extra or {})["reasoning_content"] == "Let me see."
            stream = await client.chat.completions.create(model="docs", messages=ASKED, stream=True)
            deltas = [chunk.choices[0].delta async for chunk in stream if chunk.choices]
            assert "".join(delta.content or "" for delta in deltas) == "Oil."
            assert "".join((delta.model_extra or {}).get("reasoning_content", "") for delta in deltas) == "Let me see."

    run(scene)


def test_closing_a_stream_stops_the_model_at_once(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM()
        async with the_package(with_docs(tmp_path, llm, grace_seconds=3600)) as client:
            stream = await client.chat.completions.create(model="docs", messages=ASKED, stream=True)
            llm.allow()
            await asyncio.wait_for(llm.begun.wait(), 60)
            await stream.close()
            await asyncio.wait_for(llm.ended.wait(), 60)
            assert llm.closed == 1

    run(scene)


def test_a_conversation_is_searched_by_its_rewritten_question_and_answered_with_the_users_own(tmp_path: Path) -> None:
    def script(messages: Any) -> str:
        return "Which oil does the X200 pump need?" if len(llm.prompts) == 0 else ANSWER

    llm = ScriptedLLM(script)

    async def scene() -> None:
        earlier = "It is a pump [1].\n\n---\n[1] Pump manual, p. 3"
        messages: Any = [
            {"role": "user", "content": [{"type": "text", "text": "What is the X200?"}]},
            {"role": "assistant", "content": earlier},
            {"role": "user", "content": "Which oil does it need?"},
        ]
        async with the_package(with_docs(tmp_path, llm)) as client:
            reply = await client.chat.completions.create(model="docs/compact", messages=messages)
            assert dict(reply.model_extra or {})["responsa"]["searched_with"] == "Which oil does the X200 pump need?"
        prompt = llm.prompts[-1]
        assert "Which oil does it need?" in prompt[-1].content
        assert [m.content for m in prompt if m.role.value == "assistant"] == ["It is a pump [1]."]
        assert "Pump manual, p. 3" not in str(llm.prompts)

    run(scene)


@pytest.mark.parametrize(
    ("setting", "wish", "listed"), [(False, None, False), (False, True, True), (True, False, False)]
)
def test_cited_sources_are_listed_under_the_answer_when_asked(
    tmp_path: Path, setting: bool, wish: bool | None, listed: bool
) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("ISO VG 46 oil [1]. It opens at 3 bar [2].")
        async with the_package(a_service(tmp_path, llm, openai_footnotes=setting)) as client:
            wishes = {"nodes": PASSAGES, "footnotes": wish}
            reply = await client.chat.completions.create(
                model="compact", messages=ASKED, extra_body={"responsa": wishes}
            )
            text = reply.choices[0].message.content or ""
            notes = "\n\n---\n[1] Pump manual, p. 3\n[2] The valve opens at 3 bar., https://docs.example/valve"
            assert text.endswith(notes) == listed
            assert ("---" in text) == listed

    run(scene)


def test_fields_that_clients_add_are_passed_over_and_the_samplers_are_used(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM(ANSWER)
        async with the_package(with_docs(tmp_path, llm)) as client:
            await client.chat.completions.create(
                model="docs", messages=ASKED, temperature=0.5, top_p=0.9, seed=7, stop=["END"], max_tokens=40, user="u",
                presence_penalty=0.1, metadata={"a": "b"}, tools=[], extra_body={"chat_id": "x", "options": {}},
            )  # fmt: skip
        sampling = llm.samplings[-1]
        assert (sampling.temperature, sampling.top_p, sampling.seed) == (0.5, 0.9, 7)
        assert (sampling.stop, sampling.max_tokens) == (("END",), 40)

    run(scene)


def test_a_json_schema_gives_an_object(tmp_path: Path) -> None:
    async def scene() -> None:
        async with the_package(with_docs(tmp_path, ScriptedLLM('{"oil": "ISO VG 46"}'))) as client:
            schema = {"type": "object", "properties": {"oil": {"type": "string"}}, "required": ["oil"]}
            reply = await client.chat.completions.create(
                model="docs",
                messages=ASKED,
                response_format={"type": "json_schema", "json_schema": {"name": "oil", "schema": schema}},
            )
            assert json.loads(reply.choices[0].message.content or "") == {"oil": "ISO VG 46"}
            assert dict(reply.model_extra or {})["responsa"]["value"] == {"oil": "ISO VG 46"}

    run(scene)


@pytest.mark.parametrize(
    ("change", "status", "code", "param"),
    [
        ({"messages": [{"role": "system", "content": "Obey."}, *ASKED]}, 400, "invalid_request", "messages.0.role"),
        ({"messages": [{"role": "developer", "content": "Obey."}, *ASKED]}, 400, "invalid_request", "messages.0.role"),
        ({"messages": [*ASKED, {"role": "assistant", "content": "So"}]}, 400, "invalid_request", "messages.1.role"),
        ({"messages": [{"role": "tool", "content": "x"}]}, 400, "invalid_request", "messages.0.role"),
        ({"messages": []}, 400, "invalid_request", "messages"),
        ({"messages": ASKED * 201}, 400, "invalid_request", "messages"),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "empty_question", None),
        ({"messages": [{"role": "user", "content": None}]}, 400, "empty_question", None),
        ({"n": 2}, 400, "invalid_request", "n"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, 400, "invalid_request", "tools"),
        ({"logprobs": True}, 400, "invalid_request", "logprobs"),
        ({"response_format": {"type": "json_schema"}}, 400, "invalid_request", "response_format.json_schema"),
        ({"response_format": {"type": "json_object"}}, 400, "invalid_request", "response_format.type"),
        ({"responsa": {"nothing": 1}}, 400, "invalid_request", "responsa.nothing"),
        ({"model": "gpt-4"}, 404, "model_not_found", "model"),
        ({"model": "docs/no_text"}, 404, "model_not_found", "model"),
        ({"model": "../docs"}, 404, "model_not_found", "model"),
    ],
    ids=lambda value: str(value)[:60],
)
@pytest.mark.parametrize("stream", [True, False])
def test_what_is_not_taken_is_refused_in_openais_shape(
    tmp_path: Path, stream: bool, change: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    async def scene() -> None:
        llm = ScriptedLLM(ANSWER)
        async with in_process(with_docs(tmp_path, llm)) as client:
            body = {"model": "docs/compact", "messages": ASKED, "stream": stream, **change}
            reply = await client.post("/v1/chat/completions", json=body)
            error = OpenAIErrorReply.model_validate_json(reply.content).error
            assert (reply.status_code, error.code, error.param) == (status, code, param)
            assert error.type == "invalid_request_error"
            assert llm.prompts == []

    run(scene)


def test_the_package_knows_our_failures_for_what_they_are(tmp_path: Path) -> None:
    async def scene() -> None:
        service = with_docs(tmp_path, no_auth=False, max_body_bytes=2000)
        _, text = service.keys.add("anna")
        async with the_package(service, text) as client:
            assert (await client.models.list()).data
            with pytest.raises(openai.APIStatusError) as too_large:
                await client.chat.completions.create(model="docs", messages=ASKED * 100)
            assert (too_large.value.status_code, too_large.value.code) == (413, "body_too_large")
            with pytest.raises(openai.AuthenticationError) as refused:
                await client.with_options(api_key="wrong").models.list()
            assert refused.value.code == "invalid_api_key"
            assert refused.value.type == "authentication_error"

    run(scene)


def test_a_model_server_that_is_gone_is_a_status_or_an_error_in_the_stream(tmp_path: Path) -> None:
    async def scene() -> None:
        gone = ServerUnreachable("http://10.0.0.9:1/v1", "connection refused", "")
        async with the_package(with_docs(tmp_path, ScriptedLLM(gone))) as client:
            with pytest.raises(openai.InternalServerError) as whole:
                await client.chat.completions.create(model="docs", messages=ASKED)
            assert (whole.value.status_code, whole.value.code) == (502, "server_unreachable")
            stream = await client.chat.completions.create(model="docs", messages=ASKED, stream=True)
            with pytest.raises(openai.APIError) as broken:
                async for _ in stream:
                    pass
            assert broken.value.code == "server_unreachable"
            assert "10.0.0.9" not in str(whole.value.body) + str(broken.value.body)

    run(scene)


def test_a_full_queue_tells_when_to_come_again(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = SteppedLLM(["One."], slots=1)
        service = with_docs(tmp_path, llm, max_waiting=0)
        async with the_package(service) as client:
            first = asyncio.ensure_future(client.chat.completions.create(model="docs", messages=ASKED))
            await asyncio.wait_for(llm.begun.wait(), 60)
            with pytest.raises(openai.InternalServerError) as caught:
                await client.chat.completions.create(model="docs", messages=ASKED)
            assert (caught.value.status_code, caught.value.code) == (503, "queue_full")
            assert int(caught.value.response.headers["retry-after"]) >= 1
            llm.allow()
            assert (await first).choices[0].message.content == "One."

    run(scene)


def test_a_reader_that_came_too_late_is_told_so_and_not_given_half_an_answer(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("word " * 20_000, context_window=200_000, num_output=60_000)
        service = with_docs(tmp_path, llm, max_event_bytes=100_000)
        async with on_a_socket(service) as client:
            body = {"model": "docs/generation", "messages": ASKED, "stream": True}
            async with client.stream("POST", "/v1/chat/completions", json=body) as reply:
                async with asyncio.timeout(60):
                    while service.runs.active:
                        await asyncio.sleep(0.001)
                lines = [line async for line in reply.aiter_lines() if line.startswith("data: ")]
            errors = [json.loads(line[6:])["error"]["code"] for line in lines if '"error"' in line]
            assert errors
            assert set(errors) == {"stream_too_slow"}
            assert lines[-1] == "data: [DONE]"

    run(scene)


def test_curl_reads_a_stream_and_a_whole_answer(tmp_path: Path) -> None:
    async def curl(client: httpx2.AsyncClient, body: dict[str, Any]) -> str:
        command = ["curl", "-sN", f"{client.base_url}/v1/chat/completions", "--json", json.dumps(body)]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    async def scene() -> None:
        async with on_a_socket(with_docs(tmp_path)) as client:
            body = {"model": "docs/compact", "messages": ASKED}
            assert json.loads(await curl(client, body))["choices"][0]["message"]["content"] == ANSWER
            streamed = await curl(client, {**body, "stream": True})
            *chunks, done = [line[6:] for line in streamed.split("\n") if line.startswith("data: ")]
            assert done == "[DONE]"
            deltas = [json.loads(chunk)["choices"][0]["delta"] for chunk in chunks]
            assert "".join(delta.get("content", "") for delta in deltas) == ANSWER
            others = [line for line in streamed.split("\n") if line and not line.startswith("data: ")]
            assert all(line.startswith(":") for line in others)

    run(scene)


def test_a_model_name_is_an_index_before_it_is_a_mode(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, ScriptedLLM(lambda m: "x"), indexes={"refine": an_index()})
        async with the_package(service) as client:
            reply = await client.chat.completions.create(model="refine", messages=ASKED)
            assert dict(reply.model_extra or {})["responsa"]["mode"] == "compact"

    run(scene)


def test_without_an_index_generation_alone_is_offered_and_needs_none(tmp_path: Path) -> None:
    async def scene() -> None:
        llm = ScriptedLLM("Hello.")
        async with the_package(a_service(tmp_path, llm)) as client:
            assert [model.id async for model in client.models.list()] == ["generation"]
            messages: Any = [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Yes?"},
                {"role": "user", "content": "Say hello."},
            ]
            reply = await client.chat.completions.create(model="generation", messages=messages)
            assert reply.choices[0].message.content == "Hello."
            assert not dict(reply.model_extra or {})["responsa"]["grounded"]
        [prompt] = llm.prompts
        assert isinstance(prompt[0], ChatMessage)
        assert [message.content for message in prompt if message.content == "Hi"] == ["Hi"]

    run(scene)
