"""Examining scripted embedding servers: a good one, and each fault by itself."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from tests.doctor.servers import EMBEDDINGS, MODELS, models, vectors
from tests.faults import FaultServer, Hang, reply

from responsa.doctor import EmbeddingServer, Finding, IndexFacts, aexamine_embedding_server

ROWS = ["reachable", "loading", "address", "key", "model", "dimension", "prefix"]
MODEL = "multilingual-e5-small"
A, B, C = vectors(1.0, 0.0), vectors(0.0, 1.0), vectors(0.6, 0.8)


def examine(server: EmbeddingServer, **options: Any) -> dict[str, Finding]:
    findings = asyncio.run(aexamine_embedding_server(server, **options))
    assert [finding.name for finding in findings] == ROWS
    return {finding.name: finding for finding in findings}


def error(status: int, message: str) -> bytes:
    return reply({"error": {"message": message, "code": status}}, status)


def test_a_good_server_has_no_fault_in_any_row(faults: FaultServer) -> None:
    faults.on(MODELS, models(MODEL)).on(EMBEDDINGS, A, B, C, C, C)
    server = EmbeddingServer(
        faults.url, MODEL, api_key="secret", query_prefix="query: ", text_prefix="passage: ", query_kwargs={"q": 1}
    )
    found = examine(server, index=IndexFacts(MODEL, 2))
    assert {name: one.code for name, one in found.items()} == {
        "reachable": "answers",
        "loading": "loaded",
        "address": "right_address",
        "key": "key_accepted",
        "model": "model_served",
        "dimension": "dimension_fits",
        "prefix": "prefix_set",
    }
    asked = [one.json for one in faults.requests(EMBEDDINGS)]
    text = asked[2]["input"][0]
    assert [one["input"] for one in asked] == [[f"query: {text}"], [f"passage: {text}"], [text], [text], [text]]
    assert [one.get("input_type") for one in asked] == [None, None, None, "query", "passage"]
    assert [one.get("q") for one in asked] == [1, None, None, None, None]
    assert "secret" not in repr(server)


@pytest.mark.parametrize(
    ("row", "status", "code", "replies"),
    [
        ("key", "fault", "key_missing", {MODELS: [error(401, "Invalid API Key")]}),
        ("key", "fault", "key_missing", {EMBEDDINGS: [error(401, "Invalid API Key")]}),
        ("loading", "fault", "loading", {MODELS: [error(503, "Loading model")]}),
        ("model", "warning", "model_not_listed", {MODELS: [models("other")]}),
        (
            "model",
            "fault",
            "model_not_listed",
            {MODELS: [models("other")], EMBEDDINGS: [error(404, "model not found")]},
        ),
        ("address", "fault", "no_such_address", {EMBEDDINGS: [error(404, "File Not Found")]}),
        ("dimension", "fault", "no_vector", {EMBEDDINGS: [error(501, "does not support embeddings")]}),
        ("dimension", "fault", "no_vector", {EMBEDDINGS: [reply({"data": []})]}),
        ("dimension", "fault", "index_of_other_dimension", {EMBEDDINGS: [vectors(1.0, 0.0, 0.0)]}),
        ("prefix", "warning", "prefix_missing", {EMBEDDINGS: [A]}),
        ("prefix", "warning", "prefix_missing", {EMBEDDINGS: [A, A, A, error(422, "extra field")]}),
        ("prefix", "warning", "input_type_missing", {EMBEDDINGS: [A, A, A, A, B]}),
        ("prefix", "ok", "told_apart_by_server", {EMBEDDINGS: [A, B, A, A, B]}),
    ],
)
def test_a_fault_is_found(
    faults: FaultServer, row: str, status: str, code: str, replies: dict[str, list[bytes]]
) -> None:
    for route, scripts in {MODELS: [models(MODEL)], EMBEDDINGS: [A], **replies}.items():
        faults.on(route, *scripts)
    found = examine(EmbeddingServer(faults.url, MODEL), index=IndexFacts(MODEL, 2))[row]
    assert (found.status, found.code) == (status, code)


def test_prefixes_that_the_server_sets_itself_are_found(faults: FaultServer) -> None:
    faults.on(MODELS, models(MODEL)).on(EMBEDDINGS, C, B, A, A, B)
    found = examine(EmbeddingServer(faults.url, query_prefix="query: ", text_prefix="passage: "))
    assert found["prefix"].code == "prefix_twice"


def test_an_index_of_another_model_says_rebuild(faults: FaultServer) -> None:
    faults.on(MODELS, models(MODEL)).on(EMBEDDINGS, A)
    found = examine(EmbeddingServer(faults.url), index=IndexFacts("bge-m3", 2))["dimension"]
    assert (found.status, found.code) == ("fault", "index_of_other_model")
    assert "rebuild the index" in found.advice()
    assert "重建索引" in found.advice("zh")


def test_dimensions_that_a_server_does_not_keep_to_are_a_fault(faults: FaultServer) -> None:
    faults.on(MODELS, models(MODEL)).on(EMBEDDINGS, A)
    assert examine(EmbeddingServer(faults.url, dimensions=1))["dimension"].code == "dimensions_ignored"
    assert faults.requests(EMBEDDINGS)[0].json["dimensions"] == 1


def test_a_dead_server_is_one_fault_and_the_rest_is_not_checked() -> None:
    with FaultServer() as gone:
        url = gone.url
    found = examine(EmbeddingServer(url), index=IndexFacts(MODEL, 2))
    assert found.pop("reachable").code == "unreachable"
    assert {(one.status, one.code) for one in found.values()} == {("not_checked", "not_checked")}


@pytest.mark.parametrize(
    ("replies", "late"),
    [([[Hang()]], ("dimension", "no_vector")), ([A, [Hang()]], ("prefix", "time_up"))],
)
def test_a_server_that_hangs_is_left_at_the_deadline(
    faults: FaultServer, replies: list[Any], late: tuple[str, str]
) -> None:
    faults.on(MODELS, models(MODEL)).on(EMBEDDINGS, *replies)
    started = time.monotonic()
    found = examine(EmbeddingServer(faults.url), seconds=0.4)
    assert time.monotonic() - started < 20
    assert found[late[0]].code == late[1]
