"""Several servers of one model: work goes to the free ones, a prompt's beginning stays where it is known."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from tests.faults import (
    PATIENCE,
    STREAM_HEAD,
    Close,
    FaultServer,
    WaitFor,
    answer_of,
    chunk,
    delta,
    event,
    reply,
)
from tests.llms.both import Both, both

from responsa.http.client import HTTPClient
from responsa.llms.openai_like import OpenAILike
from responsa.llms.pool import ModelServer, ServerPool
from responsa.llms.served import Served
from responsa.schema.errors import ModelNotFound, ServerUnreachable, StreamInterrupted

CHAT = "POST /v1/chat/completions"
MODELS = "GET /v1/models"


def serving(n_ctx: int = 2048, slots: int = 1) -> FaultServer:
    server = FaultServer()
    server.on(MODELS, reply({"data": [{"id": "m"}]}))
    server.on("GET /props", reply({"total_slots": slots, "default_generation_settings": {"n_ctx": n_ctx}}))
    return server.on(CHAT, answer_of("x"))


@pytest.fixture
def pair() -> Iterator[tuple[FaultServer, FaultServer]]:
    with serving(2048, 1) as first, serving(1024, 2) as second:
        yield first, second


@pytest.fixture
def llm(pair: tuple[FaultServer, FaultServer]) -> Iterator[OpenAILike]:
    model = OpenAILike(api_base=[one.url for one in pair], max_retries=2, timeout=PATIENCE)
    yield model
    model.close()


@both
def test_the_smallest_window_and_all_slots_count(llm: OpenAILike, side: Both) -> None:
    metadata = side.metadata(llm)
    assert (metadata.context_window, metadata.slots) == (1024, 3)


def test_calls_at_once_go_to_the_free_servers(pair: tuple[FaultServer, FaultServer], llm: OpenAILike) -> None:
    release = threading.Event()
    for server in pair:
        server.instead(CHAT, [WaitFor(release), answer_of("x")])

    async def main() -> list[int]:
        tasks = [asyncio.ensure_future(llm.acomplete(f"{number}")) for number in range(3)]
        while sum(server.count(CHAT) for server in pair) < 3:
            await asyncio.sleep(0)
        counts = [server.count(CHAT) for server in pair]
        release.set()
        await asyncio.gather(*tasks)
        return counts

    assert asyncio.run(main()) == [1, 2]


@both
def test_a_server_that_fails_is_left_out_and_the_call_goes_to_another(
    pair: tuple[FaultServer, FaultServer], llm: OpenAILike, side: Both
) -> None:
    side.metadata(llm)
    pair[0].instead(CHAT, [Close()])
    for _ in range(3):
        assert side.text(llm) == "x"
    assert (pair[0].count(CHAT), pair[1].count(CHAT)) == (1, 3)


@both
def test_a_server_that_is_not_there_at_first_is_left_out(side: Both) -> None:
    with serving() as gone:
        pass
    with serving() as there:
        llm = OpenAILike(api_base=[gone.url, there.url], max_retries=1, timeout=PATIENCE)
        assert side.text(llm) == "x"
        assert side.call(llm, "count_tokens", ["some words"])[0] > 0
        llm.close()


@both
def test_where_none_is_there_every_address_is_told(side: Both) -> None:
    with serving() as first, serving() as second:
        pass
    told = rf"{first.url}\S*: .*(?:refused|attempts).*; {second.url}\S*: .*(?:refused|attempts)"
    with pytest.raises(ServerUnreachable, match=told):
        side.text(OpenAILike(api_base=[first.url, second.url], max_retries=1, timeout=PATIENCE))


@both
def test_a_call_that_fails_on_every_server_in_its_own_way_tells_every_way(
    pair: tuple[FaultServer, FaultServer], llm: OpenAILike, side: Both
) -> None:
    side.metadata(llm)
    pair[0].instead(CHAT, [Close()])
    pair[1].instead(CHAT, reply({"error": {"message": "busy"}}, 503, Retry_After="0"))
    with pytest.raises(ServerUnreachable) as caught:
        side.text(llm)
    assert pair[0].url in caught.value.url
    assert pair[1].url in caught.value.url
    assert "busy" in caught.value.reason


@both
def test_all_servers_together_get_no_more_requests_than_allowed(
    pair: tuple[FaultServer, FaultServer], llm: OpenAILike, side: Both
) -> None:
    side.metadata(llm)
    for server in pair:
        server.instead(CHAT, reply({"error": {"message": "busy"}}, 503, Retry_After="0"))
    with pytest.raises(Exception, match="busy"):
        side.text(llm)
    assert pair[0].count(CHAT) + pair[1].count(CHAT) == 3


@both
def test_a_fault_after_text_is_not_taken_to_another_server(
    pair: tuple[FaultServer, FaultServer], llm: OpenAILike, side: Both
) -> None:
    side.metadata(llm)
    for server in pair:
        server.instead(CHAT, [STREAM_HEAD, chunk(event(delta("some"))), Close()])
    with pytest.raises(StreamInterrupted):
        side.text(llm)
    assert pair[0].count(CHAT) + pair[1].count(CHAT) == 1


@both
def test_counting_turns_to_another_server_too(
    pair: tuple[FaultServer, FaultServer], llm: OpenAILike, side: Both
) -> None:
    side.metadata(llm)
    pair[0].on("POST /tokenize", [Close()])
    pair[1].on("POST /tokenize", reply({"tokens": [1, 2, 3, -1]}))
    assert side.call(llm, "count_tokens", ["abc"]) == [3]


@both
def test_a_server_left_out_is_asked_again_and_works_again(
    pair: tuple[FaultServer, FaultServer], llm: OpenAILike, side: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("responsa.llms.pool.FIRST_PROBE", 0.0)
    side.metadata(llm)
    pair[0].instead(CHAT, [Close()], answer_of("back"))
    assert side.text(llm) == "x"
    assert side.call(llm, "complete", "Something else").text == "back"
    assert pair[0].count(MODELS) == 2


@both
def test_a_server_that_lists_no_models_is_back_when_it_answers_at_all(
    side: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("responsa.llms.pool.FIRST_PROBE", 0.0)
    with FaultServer() as first, FaultServer() as second:
        first.on(CHAT, [Close()], answer_of("back"))
        second.on(CHAT, answer_of("x"))
        llm = OpenAILike("m", api_base=[first.url, second.url], max_retries=1, timeout=PATIENCE)
        assert side.text(llm) == "x"
        assert side.call(llm, "complete", "Something else").text == "back"
        llm.close()


def test_a_wrong_model_is_no_reason_to_go_on(pair: tuple[FaultServer, FaultServer]) -> None:
    llm = OpenAILike("other", api_base=[one.url for one in pair], timeout=PATIENCE)
    with pytest.raises(ModelNotFound):
        _ = llm.metadata
    llm.close()


def pool_of(*slots: int) -> tuple[ServerPool, list[ModelServer]]:
    pool = ServerPool([HTTPClient(f"http://server{number}/v1") for number in range(len(slots))])
    for server, count in zip(pool.servers, slots, strict=True):
        server.served = Served(slots=count)
    return pool, pool.servers


SYSTEM = "You answer from sources. " * 30


def test_a_prompt_goes_where_its_beginning_is_known() -> None:
    pool, (first, second) = pool_of(2, 2)
    assert pool.take(SYSTEM + "A" * 600) is first
    assert pool.take("B" * 2000) is second
    for server in (first, second):
        pool.give_back(server)
    assert pool.take("B" * 2000 + "and more") is second
    assert pool.take(SYSTEM + "A" * 600 + "and more") is first


def test_a_known_beginning_does_not_keep_a_prompt_from_a_free_server() -> None:
    pool, (first, second) = pool_of(1, 1)
    assert pool.take(SYSTEM) is first
    assert pool.take(SYSTEM) is second


def test_where_all_are_busy_the_least_busy_gets_the_call() -> None:
    pool, (first, second) = pool_of(1, 1)
    taken = [pool.take(f"{number}" * 600) for number in range(5)]
    assert abs(taken.count(first) - taken.count(second)) == 1


def test_a_call_given_back_frees_its_slot() -> None:
    pool, (first, _) = pool_of(1, 1)
    assert pool.take("x") is first
    pool.give_back(first)
    assert pool.take("y") is first


def test_a_server_left_out_gets_calls_only_when_all_are() -> None:
    pool, (first, second) = pool_of(4, 4)
    pool.failed(first)
    assert [pool.take("x") for _ in range(3)] == [second] * 3
    pool.failed(second)
    assert pool.take("x", tried=[second]) is first


def test_a_server_left_out_is_due_once_and_later_the_more_often_it_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("responsa.llms.pool.time.monotonic", lambda: now)
    pool, (first, _) = pool_of(1, 1)
    pool.failed(first)
    assert pool.to_probe() == []
    now += 1.0
    assert pool.to_probe() == [first]
    assert pool.to_probe() == []
    pool.failed(first)
    now += 1.5
    assert pool.to_probe() == []
    now += 0.5
    assert pool.to_probe() == [first]
    pool.well(first)
    assert pool.healthy() == pool.servers


def test_a_server_forgets_the_oldest_beginnings() -> None:
    pool, _ = pool_of(1, 1)
    for number in range(100):
        pool.give_back(pool.take(f"{number:09}" * 10_000))
    assert all(len(server.blocks) <= 8192 for server in pool.servers)
