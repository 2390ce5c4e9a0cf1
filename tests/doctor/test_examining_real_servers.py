"""Examining real servers: what they say and do, never how they word it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.older_llama_server import older_server

from responsa.doctor import (
    ChatServer,
    EmbeddingServer,
    Finding,
    IndexFacts,
    aexamine_chat_server,
    aexamine_embedding_server,
)
from responsa.local.llama_server import LlamaServer

pytestmark = pytest.mark.real_server

PATIENCE = 240.0


def chat(server: ChatServer) -> dict[str, Finding]:
    findings = asyncio.run(aexamine_chat_server(server, seconds=PATIENCE))
    return {finding.name: finding for finding in findings}


def embedding(server: EmbeddingServer, index: IndexFacts | None = None) -> dict[str, Finding]:
    findings = asyncio.run(aexamine_embedding_server(server, index=index, seconds=PATIENCE))
    return {finding.name: finding for finding in findings}


def codes(found: dict[str, Finding]) -> dict[str, str]:
    return {name: finding.code for name, finding in found.items()}


def test_a_real_server_is_as_it_should_be(llama_server: LlamaServer) -> None:
    found = chat(ChatServer(llama_server.url, llama_server.model, context_window=2048))
    speed = found.pop("speed")
    assert speed.code in ("speed", "slow")  # this machine may be busy
    assert found.pop("template_echo").status == "ok"
    assert codes(found) == {
        "reachable": "answers",
        "loading": "loaded",
        "address": "right_address",
        "key": "no_key_needed",
        "model": "model_served",
        "window": "window_served",
        "chat_template": "roles_accepted",
        "reasoning": "no_reasoning",
        "json_schema": "schema_enforced",
        "streaming": "incremental",
        "prompt_cache": "cache_hit",
    }
    assert speed.values["read"] > 0
    assert speed.values["written"] > 0


def test_an_older_real_server_is_as_it_should_be(smollm2: Path) -> None:
    with older_server(smollm2, "-c", "4096", "-np", "2") as server:
        found = chat(ChatServer(server.url, server.model, context_window=2048))
    assert {finding.status for finding in found.values()} <= {"ok", "warning"}
    assert {name for name, finding in found.items() if finding.status == "warning"} <= {"speed"}
    assert (found["json_schema"].code, found["prompt_cache"].code) == ("schema_enforced", "cache_hit")


def test_wrong_settings_are_found_at_a_real_server(llama_server: LlamaServer) -> None:
    found = chat(ChatServer(llama_server.url, "gpt-4", context_window=4096, is_chat_model=False))
    assert (found["model"].code, found["window"].code) == ("model_not_listed", "window_above_served")
    assert found["template_echo"].code == "echo"
    assert found["template_echo"].values["text"]


def test_a_real_server_without_its_v1_is_pointed_to_it(llama_server: LlamaServer) -> None:
    assert chat(ChatServer(llama_server.url.removesuffix("/v1")))["address"].code == "v1_left_out"


def test_a_chat_server_gives_no_vectors(llama_server: LlamaServer) -> None:
    found = embedding(EmbeddingServer(llama_server.url))
    assert found["dimension"].code == "no_vector"


def test_a_real_embedding_server_is_compared_with_the_index(embedding_server: LlamaServer) -> None:
    server = EmbeddingServer(embedding_server.url)
    found = embedding(server, IndexFacts(embedding_server.model, 576))
    assert codes(found) == {
        "reachable": "answers",
        "loading": "loaded",
        "address": "right_address",
        "key": "no_key_needed",
        "model": "model_served",
        "dimension": "dimension_fits",
        "prefix": "no_prefix_known",
    }
    assert embedding(server, IndexFacts(embedding_server.model, 384))["dimension"].code == "index_of_other_dimension"


def test_a_key_that_a_real_server_asks_for_is_missed(smollm2: Path) -> None:
    with LlamaServer(smollm2, context_window=512, threads=1, api_key="right") as server:
        assert chat(ChatServer(server.url))["key"].code == "key_missing"
        assert chat(ChatServer(server.url, api_key="wrong"))["key"].code == "key_refused"
        found = chat(ChatServer(server.url, api_key="right"))
    assert (found["key"].code, found["window"].code) == ("key_accepted", "window_small")
