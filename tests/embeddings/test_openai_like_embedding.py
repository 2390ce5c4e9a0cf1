"""`OpenAILikeEmbedding` against a server that answers what the test tells it to."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from tests.faults import PATIENCE, Close, FaultServer, WaitFor, reply

from responsa.embeddings.openai_like import OpenAILikeEmbedding
from responsa.schema.errors import BadResponse, InputTooLong, InvalidOption, RequestRefused, ServerUnreachable

ROUTE = "POST /v1/embeddings"


class Side:
    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async

    def __call__(self, embedding: OpenAILikeEmbedding, name: str, argument: Any) -> Any:
        if self.is_async:
            return asyncio.run(getattr(embedding, f"a{name}")(argument))
        with_close = getattr(embedding, name)(argument)
        embedding.close()
        return with_close


both = pytest.mark.parametrize("side", [Side(False), Side(True)], ids=["sync", "async"])


def vector_of(text: str) -> list[float]:
    return [float(len(text)), 1.0]


def packed(vector: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


class Embeds:
    """Embeds a text as its length; refuses texts of more than `limit` characters as llama-server does."""

    def __init__(self, limit: int = 1000, shuffled: bool = False, as_floats: bool = False) -> None:
        self.limit = limit
        self.shuffled = shuffled
        self.as_floats = as_floats
        self.bodies: list[Any] = []
        self.lock = threading.Lock()

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        with self.lock:
            self.bodies.append(body)
        if any(len(text) > self.limit for text in body["input"]):
            message = "input (702 tokens) is too large to process. increase the physical batch size (current: 512)"
            return httpx2.Response(500, json={"error": {"code": 500, "message": message, "type": "server_error"}})
        data: list[Any] = []
        for index, text in enumerate(body["input"]):
            vector = vector_of(text)
            data.append({"index": index, "embedding": vector if self.as_floats else packed(vector)})
        return httpx2.Response(200, json={"data": data[::-1] if self.shuffled else data})


def embedding_of(handler: Callable[[httpx2.Request], httpx2.Response], **options: Any) -> OpenAILikeEmbedding:
    return OpenAILikeEmbedding(
        model_name="bge-m3", transport=httpx2.MockTransport(handler), **{"max_retries": 0, **options}
    )


@pytest.fixture
def make(faults: FaultServer) -> Iterator[Any]:
    made: list[OpenAILikeEmbedding] = []

    def of(**options: Any) -> OpenAILikeEmbedding:
        made.append(OpenAILikeEmbedding("m", api_base=faults.url, timeout=PATIENCE, **options))
        return made[-1]

    yield of
    for embedding in made:
        embedding.close()


def test_the_documented_constructor_works_word_for_word() -> None:
    embed = OpenAILikeEmbedding(
        model_name="bge-m3",
        api_base="http://127.0.0.1:8081/v1",
        api_key="local-placeholder",
    )
    assert (embed.model_name, embed.api_base) == ("bge-m3", "http://127.0.0.1:8081/v1")


@both
@pytest.mark.parametrize("as_floats", [True, False])
@pytest.mark.parametrize("shuffled", [True, False])
def test_texts_are_embedded_in_batches_and_their_order_is_kept(side: Side, as_floats: bool, shuffled: bool) -> None:
    server = Embeds(as_floats=as_floats, shuffled=shuffled)
    texts = ["x" * number for number in range(25)]
    vectors = side(embedding_of(server, embed_batch_size=10), "get_text_embedding_batch", texts)
    assert vectors == [vector_of(text) for text in texts]
    assert sorted(len(body["input"]) for body in server.bodies) == [5, 10, 10]


@both
def test_nothing_to_embed_asks_nothing(side: Side) -> None:
    server = Embeds()
    assert side(embedding_of(server), "get_text_embedding_batch", []) == []
    assert server.bodies == []


@both
def test_queries_and_passages_are_told_apart(side: Side) -> None:
    server = Embeds()
    embedding = embedding_of(
        server,
        query_prefix="query: ",
        text_prefix="passage: ",
        query_kwargs={"input_type": "query"},
        text_kwargs={"input_type": "passage"},
        additional_kwargs={"user": "me", "encoding_format": None},
        dimensions=2,
    )
    assert side(embedding, "get_query_embedding", "a") == vector_of("query: a")
    assert side(embedding, "get_text_embedding", "a") == vector_of("passage: a")
    common = {"model": "bge-m3", "dimensions": 2, "user": "me"}
    assert server.bodies == [
        {"input": ["query: a"], "input_type": "query", **common},
        {"input": ["passage: a"], "input_type": "passage", **common},
    ]


@both
@pytest.mark.parametrize("place", [0, 3, 6, 9])
def test_a_text_that_is_too_long_is_found_and_named(side: Side, place: int) -> None:
    server = Embeds(limit=50)
    texts = [f"text {number}" for number in range(10)]
    texts[place] = f"long text {place} " * 10
    with pytest.raises(InputTooLong) as caught:
        side(embedding_of(server, embed_batch_size=4), "get_text_embedding_batch", texts)
    assert caught.value.position == place
    assert caught.value.excerpt.startswith(f"long text {place}")
    assert "702 tokens" in caught.value.message


@both
def test_a_batch_too_large_as_a_whole_is_embedded_by_halves(side: Side) -> None:
    def handler(request: httpx2.Request) -> httpx2.Response:
        texts = json.loads(request.content)["input"]
        if len(texts) > 1:
            message = "This model's maximum context length is 512 tokens. However, your messages resulted in 700 tokens"
            return httpx2.Response(400, json={"error": {"message": message}})
        return httpx2.Response(200, json={"data": [{"index": 0, "embedding": vector_of(texts[0])}]})

    texts = ["a", "bb", "ccc"]
    vectors = side(embedding_of(handler), "get_text_embedding_batch", texts)
    assert vectors == [vector_of(text) for text in texts]


@both
def test_a_failed_batch_alone_is_sent_again(faults: FaultServer, make: Any, side: Side) -> None:
    busy = reply({"error": {"message": "busy"}}, 503, Retry_After="0")
    ones = [reply({"data": [{"index": 0, "embedding": [float(number)]}]}) for number in range(3)]
    faults.on(ROUTE, ones[0], busy, ones[1], ones[2])
    embedding = make(embed_batch_size=1, num_workers=1, max_retries=1)
    assert side(embedding, "get_text_embedding_batch", ["a", "b", "c"]) == [[0.0], [1.0], [2.0]]
    assert [request.json["input"] for request in faults.requests(ROUTE)] == [["a"], ["b"], ["b"], ["c"]]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_requests_at_a_time_are_bounded(faults: FaultServer, make: Any, is_async: bool) -> None:
    release = threading.Event()
    faults.on(ROUTE, [WaitFor(release), reply({"data": [{"index": 0, "embedding": [1.0]}]})])
    at_once: list[int] = []
    stopped = threading.Event()

    def watch() -> None:
        while faults.count(ROUTE) < 2 and not stopped.wait(0.001):
            pass
        at_once.append(faults.count(ROUTE))
        release.set()

    watcher = threading.Thread(target=watch)
    watcher.start()
    vectors = Side(is_async)(make(embed_batch_size=1, num_workers=2), "get_text_embedding_batch", ["a"] * 6)
    stopped.set()
    watcher.join()
    assert (at_once, len(vectors)) == ([2], 6)


@both
@pytest.mark.parametrize(
    "body",
    [
        {"data": []},
        {"data": "x"},
        {},
        [],
        {"data": [3]},
        {"data": [{"index": 5, "embedding": [1.0]}]},
        {"data": [{"index": "0", "embedding": [1.0]}]},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": [float("nan")]}]},
        {"data": [{"index": 0, "embedding": "!!!"}]},
        {"data": [{"index": 0, "embedding": "AAA="}]},
        {"data": [{"index": 0, "embedding": 5}]},
        {"data": [{"index": 0, "embedding": {"1": 2}}]},
        {"data": [{"index": 0, "embedding": ["1.5"]}]},
        {"data": [{"index": 0, "embedding": [True]}]},
        {"data": [{"index": 0, "embedding": [10**400]}]},
        {"data": [{"index": 0, "embedding": [1e308]}]},
        {"data": [{"index": 0, "embedding": [1e308, 1e308]}]},
    ],
)
def test_a_reply_that_holds_no_vector_is_refused(faults: FaultServer, make: Any, side: Side, body: Any) -> None:
    faults.on(ROUTE, reply(body))
    with pytest.raises(BadResponse):
        side(make(max_retries=0), "get_text_embedding", "a")


@pytest.mark.parametrize(
    "data",
    [
        [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": [1.0]}],
    ],
)
def test_vectors_that_do_not_belong_together_are_refused(faults: FaultServer, make: Any, data: Any) -> None:
    faults.on(ROUTE, reply({"data": data}))
    with pytest.raises(BadResponse):
        make(max_retries=0).get_text_embedding_batch(["a", "b"])


@both
def test_vectors_of_different_lengths_in_different_batches_are_refused(
    faults: FaultServer, make: Any, side: Side
) -> None:
    faults.on(ROUTE, *(reply({"data": [{"index": 0, "embedding": vector}]}) for vector in ([1.0], [1.0, 2.0])))
    with pytest.raises(BadResponse):
        side(make(max_retries=0, embed_batch_size=1), "get_text_embedding_batch", ["a", "b"])


def test_an_index_without_end_is_shown_by_its_beginning(faults: FaultServer, make: Any) -> None:
    faults.on(ROUTE, reply({"data": [{"index": "x" * 100_000, "embedding": [1.0]}]}))
    with pytest.raises(BadResponse) as caught:
        make(max_retries=0).get_text_embedding("a")
    assert len(str(caught.value)) < 500


@both
def test_an_error_in_place_of_vectors_is_told(faults: FaultServer, make: Any, side: Side) -> None:
    faults.on(ROUTE, reply({"error": {"message": "out of memory", "code": 500}}))
    with pytest.raises(RequestRefused, match="out of memory"):
        side(make(max_retries=0), "get_text_embedding", "a")


@both
def test_other_faults_are_what_they_are(faults: FaultServer, make: Any, side: Side) -> None:
    faults.on(ROUTE, reply({"error": {"message": "This server does not support embeddings."}}, 501), [Close()])
    embedding = make(max_retries=0)
    with pytest.raises(RequestRefused):
        side(embedding, "get_query_embedding", "a")
    with pytest.raises(ServerUnreachable):
        side(embedding, "get_query_embedding", "a")


@both
def test_an_address_without_its_v1_is_named(faults: FaultServer, side: Side) -> None:
    faults.on("GET /v1/models", reply({"data": [{"id": "m"}]}))
    embedding = OpenAILikeEmbedding("m", api_base=faults.root, timeout=PATIENCE, max_retries=0)
    with pytest.raises(ServerUnreachable) as caught:
        side(embedding, "get_query_embedding", "a")
    embedding.close()
    assert f"{faults.root}/v1" in caught.value.hint


@pytest.mark.parametrize(
    "options", [{"embed_batch_size": 0}, {"num_workers": 0}, {"encoding_format": "int8"}, {"api_base": "here"}]
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption):
        OpenAILikeEmbedding("m", **options)
