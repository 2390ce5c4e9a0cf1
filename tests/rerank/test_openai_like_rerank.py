"""The reranking client keeps the order of the texts and trusts no reply."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.faults import PATIENCE, FaultServer, reply

from responsa.rerank.openai_like import OpenAILikeRerank
from responsa.schema.errors import BadResponse, RequestRefused, ServerUnreachable

ROUTE = "POST /v1/rerank"


def scores(faults: FaultServer, is_async: bool, texts: list[str], **options: Any) -> list[float]:
    rerank = OpenAILikeRerank(**{"api_base": faults.url, "timeout": PATIENCE, "max_retries": 0, **options})
    try:
        return asyncio.run(rerank.arerank("q", texts)) if is_async else rerank.rerank("q", texts)
    finally:
        rerank.close()


both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@both
def test_scores_come_in_the_order_of_the_texts(faults: FaultServer, is_async: bool) -> None:
    results = [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1},
               {"index": 1, "relevance_score": -3}]  # fmt: skip
    faults.on(ROUTE, reply({"results": results}))
    assert scores(faults, is_async, ["a", "b", "c"], model="m", additional_kwargs={"x": 1}) == [0.1, -3.0, 0.9]
    assert faults.received[0].json == {"query": "q", "documents": ["a", "b", "c"], "top_n": 3, "x": 1, "model": "m"}


@both
def test_nothing_to_score_asks_nothing(faults: FaultServer, is_async: bool) -> None:
    assert scores(faults, is_async, []) == []
    assert faults.received == []


@both
@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"results": None},
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 7, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": "1"}, {"index": 1, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": float("inf")}, {"index": 1, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 10**400}, {"index": 1, "relevance_score": 1}]},
        {"results": [1, 2]},
    ],
)
def test_a_reply_that_does_not_score_every_text_is_refused(faults: FaultServer, is_async: bool, body: Any) -> None:
    faults.on(ROUTE, reply(body))
    with pytest.raises(BadResponse):
        scores(faults, is_async, ["a", "b"])


@both
def test_a_server_that_does_not_rerank_says_so(faults: FaultServer, is_async: bool) -> None:
    faults.on(ROUTE, reply({"error": {"message": "Start it with `--reranking`", "code": 501}}, 501))
    with pytest.raises(RequestRefused):
        scores(faults, is_async, ["a"])


@both
def test_an_address_without_its_v1_is_named(faults: FaultServer, is_async: bool) -> None:
    faults.on("GET /v1/models", reply({"data": []}))
    with pytest.raises(ServerUnreachable):
        scores(faults, is_async, ["a"], api_base=faults.root)
