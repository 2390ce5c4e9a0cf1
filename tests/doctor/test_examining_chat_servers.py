"""Examining scripted chat servers: a good one, and each fault by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.doctor import servers
from tests.doctor.servers import CHAT, COMPLETIONS, MODELS, PROPS, TEMPLATE, Ticks, good_chat_server
from tests.faults import STREAM_HEAD, FaultServer, Hang, chunk, delta, event, reply, stream_of

from responsa.doctor import ChatServer, Finding, aexamine_chat_server

ROWS = [
    "reachable",
    "loading",
    "address",
    "key",
    "model",
    "window",
    "chat_template",
    "template_echo",
    "reasoning",
    "json_schema",
    "streaming",
    "speed",
    "prompt_cache",
]
SOON = 0.4


def examine(server: ChatServer, **options: Any) -> dict[str, Finding]:
    findings = asyncio.run(aexamine_chat_server(server, **options))
    assert [finding.name for finding in findings] == ROWS
    return {finding.name: finding for finding in findings}


def codes(findings: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.code for name, finding in findings.items()}


def error(status: int, message: str, **fields: Any) -> bytes:
    return reply({"error": {"message": message, "code": status, **fields}}, status)


def test_a_good_server_has_no_fault_in_any_row(faults: FaultServer) -> None:
    clock = Ticks()
    good_chat_server(faults, clock)
    server = ChatServer(faults.url, "m", api_key="secret", context_window=4096)
    found = examine(server, clock=clock)
    assert codes(found) == {
        "reachable": "answers",
        "loading": "loaded",
        "address": "right_address",
        "key": "key_accepted",
        "model": "model_served",
        "window": "window_served",
        "chat_template": "roles_accepted",
        "template_echo": "echo_if_completed",
        "reasoning": "no_reasoning",
        "json_schema": "schema_enforced",
        "streaming": "incremental",
        "speed": "speed",
        "prompt_cache": "cache_hit",
    }
    assert "user: Another?" in found["template_echo"].detail()
    assert {one.headers["authorization"] for one in faults.received} == {"Bearer secret"}
    assert not any("secret" in text for one in found.values() for text in (one.detail(), one.advice(), repr(one)))
    assert "secret" not in repr(server)


def test_few_tokens_are_asked_for(faults: FaultServer) -> None:
    clock = Ticks()
    good_chat_server(faults, clock)
    examine(ChatServer(faults.url), clock=clock)
    asked = [one.json for route in (CHAT, COMPLETIONS) for one in faults.requests(route)]
    assert sum(body["max_tokens"] for body in asked) <= 96
    assert all(body["stream"] for body in asked)


def test_two_prompts_share_a_beginning_that_no_earlier_examination_had(faults: FaultServer) -> None:
    clock = Ticks()
    good_chat_server(faults, clock)
    examine(ChatServer(faults.url), clock=clock)
    first, again = (one.json["messages"] for one in faults.requests(CHAT)[:2])
    assert first[0] == again[0]
    assert first[1] != again[1]
    faults.instead(CHAT, servers.in_one_piece(servers.ONE, *servers.OTHERS), servers.AGAIN, servers.OBJECT)
    examine(ChatServer(faults.url))
    assert faults.requests(CHAT)[3].json["messages"][0] != first[0]


Spoil = Callable[[FaultServer], object]
FAULTS: list[tuple[str, str, str, Spoil]] = [
    ("loading", "fault", "loading", lambda faults: faults.instead(MODELS, error(503, "Loading model"))),
    ("key", "fault", "key_missing", lambda faults: faults.instead(MODELS, error(401, "Invalid API Key"))),
    ("key", "fault", "key_missing", lambda faults: faults.instead(CHAT, error(401, "Invalid API Key"))),
    ("model", "fault", "model_not_listed", lambda faults: faults.instead(MODELS, servers.models("other"))),
    ("model", "warning", "no_models_listed", lambda faults: faults.instead(MODELS, servers.models())),
    ("address", "fault", "other_server", lambda faults: faults.instead(MODELS, reply(b"<html>", Content_Type="a/b"))),
    ("address", "fault", "no_such_address", lambda faults: faults.instead(CHAT, error(404, "File Not Found"))),
    (
        "reachable",
        "fault",
        "fails",
        lambda faults: (
            faults.instead(MODELS, error(502, "bad gateway")),
            faults.instead(CHAT, error(502, "bad gateway")),
        ),
    ),
    ("reachable", "warning", "rate_limited", lambda faults: faults.instead(MODELS, error(429, "slow down"))),
    (
        "window",
        "fault",
        "window_above_served",
        lambda faults: faults.instead(PROPS, servers.props(default_generation_settings={"n_ctx": 1024})),
    ),
    ("chat_template", "warning", "no_template", lambda faults: faults.instead(PROPS, servers.props(chat_template=""))),
    (
        "chat_template",
        "warning",
        "roles_lost",
        lambda faults: faults.instead(TEMPLATE, reply({"prompt": "walnut harbour lantern"})),
    ),
    (
        "chat_template",
        "warning",
        "roles_refused",
        lambda faults: faults.instead(TEMPLATE, servers.PROMPT, error(400, "no system"), servers.PROMPT),
    ),
    ("chat_template", "fault", "messages_refused", lambda faults: faults.instead(TEMPLATE, error(400, "no template"))),
    ("template_echo", "ok", "no_completions", lambda faults: faults.instead(COMPLETIONS, error(404, "Not Found"))),
    (
        "template_echo",
        "not_checked",
        "probe_failed",
        lambda faults: faults.instead(COMPLETIONS, stream_of({"x": 1}, done=False)),
    ),
    ("streaming", "fault", "no_answer", lambda faults: faults.instead(CHAT, error(500, "no logits"))),
    (
        "streaming",
        "fault",
        "empty_answer",
        lambda faults: faults.instead(CHAT, stream_of(delta(reason="stop"), servers.USAGE)),
    ),
    (
        "streaming",
        "warning",
        "in_one_piece",
        lambda faults: faults.instead(CHAT, servers.in_one_piece(servers.ONE, *servers.OTHERS)),
    ),
    (
        "streaming",
        "fault",
        "no_answer",
        lambda faults: faults.instead(CHAT, [STREAM_HEAD + chunk(event(delta("one"))) + b"broken"]),
    ),
]


@pytest.mark.parametrize(
    ("row", "status", "code", "spoil"), FAULTS, ids=[f"{one[2]}-{n}" for n, one in enumerate(FAULTS)]
)
def test_a_fault_is_found(faults: FaultServer, row: str, status: str, code: str, spoil: Spoil) -> None:
    clock = Ticks(enough=0)
    clock.reached.set()
    good_chat_server(faults, clock)
    spoil(faults)
    found = examine(ChatServer(faults.url, "m", context_window=4096))[row]
    assert (found.status, found.code) == (status, code)


ANSWERS: list[tuple[str, str, str, list[bytes]]] = [
    (
        "reasoning",
        "ok",
        "reasoning_apart",
        [stream_of(delta(reasoning_content="hm"), servers.ONE, *servers.OTHERS)],
    ),
    ("reasoning", "ok", "reasoning_apart", [stream_of(delta(reasoning="hm"), servers.ONE, *servers.OTHERS)]),
    (
        "reasoning",
        "ok",
        "reasoning_in_text",
        [stream_of(delta("<think>hm</think>"), servers.ONE, *servers.OTHERS)],
    ),
    ("reasoning", "ok", "reasoning_long", [stream_of(delta("<think>hm"), delta(reason="length"), servers.USAGE)]),
    (
        "chat_template",
        "warning",
        "wrong_template",
        [stream_of(servers.ONE, delta("<|im_end|>"), *servers.OTHERS)],
    ),
    (
        "speed",
        "warning",
        "slow",
        [stream_of(servers.ONE, *servers.OTHERS[:3], {**servers.USAGE, "timings": {"predicted_ms": 24000.0}})],
    ),
    (
        "prompt_cache",
        "warning",
        "cache_missed",
        [stream_of(servers.ONE, *servers.OTHERS), stream_of(delta("yes"), delta(reason="length"), servers.USAGE)],
    ),
    (
        "prompt_cache",
        "not_checked",
        "cache_untold",
        [stream_of(servers.ONE, *servers.OTHERS), stream_of(delta("yes"), delta(reason="length"))],
    ),
    (
        "json_schema",
        "warning",
        "schema_refused",
        [stream_of(servers.ONE, *servers.OTHERS), servers.AGAIN, error(400, "response_format is not supported")],
    ),
    (
        "json_schema",
        "warning",
        "schema_ignored",
        [stream_of(servers.ONE, *servers.OTHERS), servers.AGAIN, stream_of(delta("The sea."), delta(reason="stop"))],
    ),
]


@pytest.mark.parametrize(("row", "status", "code", "answers"), ANSWERS, ids=[one[2] for one in ANSWERS])
def test_an_answer_shows_it(faults: FaultServer, row: str, status: str, code: str, answers: list[bytes]) -> None:
    good_chat_server(faults, Ticks())
    faults.instead(CHAT, *answers)
    found = examine(ChatServer(faults.url))[row]
    assert (found.status, found.code) == (status, code)


def test_a_plain_reply_in_place_of_a_stream_is_one_piece(faults: FaultServer) -> None:
    good_chat_server(faults, Ticks())
    message = {"role": "assistant", "content": "one, two, three", "reasoning_content": "hm"}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {"completion_tokens": 9}}
    faults.instead(CHAT, reply(whole))
    found = codes(examine(ChatServer(faults.url)))
    assert (found["streaming"], found["reasoning"]) == ("in_one_piece", "reasoning_apart")


def test_where_v1_is_missing_the_right_address_is_named(faults: FaultServer) -> None:
    faults.on(MODELS, servers.models("m"))
    found = examine(ChatServer(faults.root))
    assert found["address"].code == "v1_missing"
    assert found["address"].advice() == f"Use {faults.url}."
    assert {one.status for name, one in found.items() if name not in ("reachable", "address")} == {"not_checked"}


def test_a_root_that_answers_by_itself_is_pointed_to_v1(faults: FaultServer) -> None:
    faults.on("GET /models", servers.models("m", owned_by="llamacpp"))
    faults.on("POST /chat/completions", servers.in_one_piece(servers.ONE, *servers.OTHERS))
    assert examine(ChatServer(faults.root))["address"].code == "v1_left_out"


def test_a_dead_server_is_one_fault_and_the_rest_is_not_checked() -> None:
    with FaultServer() as gone:
        url = gone.url
    found = examine(ChatServer(url, "m", api_key="k", context_window=1))
    assert found.pop("reachable").code == "unreachable"
    assert {(one.status, one.code) for one in found.values()} == {("not_checked", "not_checked")}


@pytest.mark.parametrize("route", [MODELS, PROPS, TEMPLATE, CHAT, COMPLETIONS])
def test_a_server_that_hangs_is_left_at_the_deadline(faults: FaultServer, route: str) -> None:
    clock = Ticks()
    good_chat_server(faults, clock)
    faults.instead(route, [Hang()])
    started = time.monotonic()
    found = examine(ChatServer(faults.url), seconds=SOON, clock=clock)
    assert time.monotonic() - started < 20
    late = {name: one.code for name, one in found.items() if one.code in ("silent", "time_up", "no_answer")}
    expected = {
        MODELS: {"reachable": "silent"},
        PROPS: {"reachable": "silent"},
        TEMPLATE: {"reachable": "silent"},
        CHAT: {"streaming": "no_answer"},
        COMPLETIONS: {"template_echo": "time_up"},
    }
    assert late == expected[route]


def test_a_server_that_sends_only_comments_is_left_at_the_deadline(faults: FaultServer) -> None:
    good_chat_server(faults, Ticks())
    drops = [b": keep waiting\n\n" for _ in range(100_000)]
    faults.instead(CHAT, [STREAM_HEAD, *map(chunk, drops), Hang()])
    found = examine(ChatServer(faults.url), seconds=SOON)
    assert found["streaming"].code == "no_answer"
    assert found["speed"].status == "not_checked"


def test_a_model_without_a_chat_template_is_asked_through_completions(faults: FaultServer) -> None:
    good_chat_server(faults, Ticks())
    text = {"choices": [{"index": 0, "text": "one, two, three"}]}
    end = {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}
    faults.instead(COMPLETIONS, stream_of(text, text, end, servers.USAGE))
    found = codes(examine(ChatServer(faults.url, is_chat_model=False)))
    assert faults.count(CHAT) == 0
    assert faults.count(TEMPLATE) == 0
    assert found["template_echo"] == "echo"  # there is a template, and it is not used
    assert found["chat_template"] == "template_unused"
    assert [("messages" in one.json, "json_schema" in one.json) for one in faults.requests(COMPLETIONS)] == [
        (False, False),
        (False, False),
        (False, True),
        (False, False),
    ]


def test_a_hosted_server_is_asked_with_messages_only(faults: FaultServer) -> None:
    faults.on(MODELS, servers.models("gpt", "other"))
    whole = reply({"choices": [{"message": {"content": "."}}]})
    faults.on(CHAT, whole, servers.in_one_piece(servers.ONE, *servers.OTHERS), servers.AGAIN, servers.OBJECT)
    found = codes(examine(ChatServer(faults.url, "gpt")))
    assert found["chat_template"] == "roles_accepted"
    assert found["window"] == "window_unknown"
    assert found["template_echo"] == "no_completions"
    assert [one.json["model"] for one in faults.requests(CHAT)] == ["gpt"] * 4


def test_a_refused_system_message_is_left_out_of_the_other_questions(faults: FaultServer) -> None:
    good_chat_server(faults, Ticks())
    faults.instead(TEMPLATE, servers.PROMPT, error(500, "System role not supported"), servers.PROMPT)
    faults.instead(CHAT, servers.in_one_piece(servers.ONE, *servers.OTHERS), servers.AGAIN, servers.OBJECT)
    found = examine(ChatServer(faults.url))
    assert found["chat_template"].values["roles"] == ("system",)
    assert {message["role"] for one in faults.requests(CHAT) for message in one.json["messages"]} == {"user"}
    assert found["json_schema"].code == "schema_enforced"


def test_a_wrong_model_does_not_hide_the_other_rows(faults: FaultServer) -> None:
    clock = Ticks()
    good_chat_server(faults, clock)
    found = examine(ChatServer(faults.url, "gpt-4"), clock=clock)
    assert found.pop("model").code == "model_not_listed"
    assert {one.status for one in found.values()} == {"ok"}
    assert {one.json["model"] for one in faults.requests(CHAT)} == {"m"}


def test_settings_that_no_server_has_are_refused() -> None:
    from responsa.schema.errors import InvalidOption

    with pytest.raises(InvalidOption):
        examine(replace(ChatServer("localhost:8080")))
