"""`OpenAILike` against a server that does what real ones do rarely."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.faults import (
    PATIENCE,
    STREAM_HEAD,
    Close,
    FaultServer,
    Hang,
    Reset,
    UntilClientCloses,
    answer_of,
    chunk,
    delta,
    event,
    reply,
    stream_of,
)
from tests.llms.both import QUESTION, Both, both

from responsa.http.timeouts import Timeout
from responsa.llms.openai_like import OpenAILike
from responsa.schema.completions import Delta, Finish, Sampling, Usage
from responsa.schema.errors import (
    AuthenticationFailed,
    BadResponse,
    ContextWindowExceeded,
    InvalidOption,
    ModelNotFound,
    RequestRefused,
    ServerError,
    ServerUnreachable,
    StreamInterrupted,
    UnknownOption,
    WindowAboveServed,
)
from responsa.schema.messages import ChatMessage, ImageBlock, TextBlock

CHAT = "POST /v1/chat/completions"
COMPLETIONS = "POST /v1/completions"
MODELS = "GET /v1/models"
ONE_MODEL = reply({"object": "list", "data": [{"id": "qwen", "aliases": ["q"], "meta": {"n_ctx": 2048}}]})


@pytest.fixture
def server(faults: FaultServer) -> FaultServer:
    return faults.on(MODELS, ONE_MODEL)


@pytest.fixture
def make() -> Iterator[Any]:
    made: list[OpenAILike] = []

    def of(server: FaultServer, **options: Any) -> OpenAILike:
        llm = OpenAILike(**{"api_base": server.url, "timeout": PATIENCE, "max_retries": 0, **options})
        made.append(llm)
        return llm

    yield of
    for llm in made:
        llm.close()


def test_the_documented_constructor_works_word_for_word() -> None:
    llm = OpenAILike(
        model="Qwen2.5-7B-Instruct",
        api_base="http://127.0.0.1:8080/v1",
        api_key="local-placeholder",
        is_chat_model=True,
        is_function_calling_model=False,
        context_window=8192,
    )
    assert llm.api_base == "http://127.0.0.1:8080/v1"


def test_making_one_asks_nothing_of_any_server(server: FaultServer, make: Any) -> None:
    make(server)
    assert server.received == []


@both
def test_an_answer_comes_in_pieces_and_ends_with_its_usage(server: FaultServer, make: Any, side: Both) -> None:
    end = {"choices": [], "model": "qwen", "usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    server.on(CHAT, stream_of(delta("Pa"), delta("ris"), delta(reason="stop"), end))
    *deltas, finish = side.items(make(server))
    assert deltas == [Delta("Pa"), Delta("ris")]
    assert isinstance(finish, Finish)
    assert (finish.reason, finish.usage, finish.model) == ("stop", Usage(9, 2), "qwen")
    assert finish.timings.first_token is not None
    assert finish.timings.total is not None
    assert finish.timings.first_token <= finish.timings.total


@both
def test_what_is_sent_is_the_prompt_and_the_sampling(server: FaultServer, make: Any, side: Both) -> None:
    server.on(CHAT, answer_of("x"))
    llm = make(server, model="qwen", temperature=0.5, top_p=0.9, seed=7, max_tokens=50,
               additional_kwargs={"cache_prompt": True, "top_p": None})  # fmt: skip
    messages = [
        ChatMessage("system", "Be short."),
        ChatMessage(blocks=[TextBlock("What is this?"), ImageBlock(url="data:image/png;base64,AA==", detail="low")]),
        ChatMessage("assistant", "A cat.", additional_kwargs={"name": "bot"}),
    ]
    side.items(llm, messages, Sampling(max_tokens=5, stop=("\n",), extra={"min_p": 0.1, "seed": 8}))
    assert server.requests(CHAT)[0].json == {
        "model": "qwen",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}}]},
            {"role": "assistant", "content": "A cat.", "name": "bot"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 5,
        "temperature": 0.5,
        "seed": 8,
        "stop": ["\n"],
        "cache_prompt": True,
        "min_p": 0.1,
    }  # fmt: skip


@both
def test_a_model_that_takes_no_messages_gets_one_text(server: FaultServer, make: Any, side: Both) -> None:
    server.on(COMPLETIONS, stream_of({"choices": [{"text": "Paris", "finish_reason": "stop"}]}))
    llm = make(server, is_chat_model=False)
    assert side.text(llm) == "Paris"
    side.items(llm, [ChatMessage("system", "S"), ChatMessage("user", "U")])
    assert [one.json["prompt"] for one in server.requests(COMPLETIONS)] == ["Where?", "system: S\nuser: U\nassistant: "]
    assert "messages" not in server.requests(COMPLETIONS)[0].json


@both
def test_the_server_is_asked_once_what_it_serves(server: FaultServer, make: Any, side: Both) -> None:
    server.on(CHAT, answer_of("x"))
    server.on("GET /props", reply({"total_slots": 4, "default_generation_settings": {"n_ctx": 1024}}))
    llm = make(server)
    for _ in range(2):
        side.items(llm)
        metadata = side.metadata(llm)
    assert (metadata.model_name, metadata.context_window, metadata.slots) == ("qwen", 1024, 4)
    assert (server.count(MODELS), server.count("GET /props")) == (1, 1)


def test_many_tasks_at_once_ask_the_server_once(server: FaultServer, make: Any) -> None:
    llm = make(server)

    async def main() -> None:
        await asyncio.gather(*(llm.ametadata() for _ in range(8)))

    asyncio.run(main())
    assert server.count(MODELS) == 1


@both
@pytest.mark.parametrize(
    ("routes", "window", "slots"),
    [
        ({}, 2048, 1),
        ({MODELS: {"data": [{"id": "qwen", "max_model_len": 8192}]}}, 8192, 1),
        ({"GET /props": {"total_slots": 2, "default_generation_settings": {"n_ctx": 512}}}, 512, 2),
        ({"GET /props": {"model_path": "x"}, "GET /slots": [{"n_ctx": 700}, {"n_ctx": 700}]}, 2048, 2),
        ({MODELS: {"data": [{"id": "qwen"}]}, "GET /props": {"x": 1}, "GET /slots": [{"n_ctx": 700}]}, 700, 1),
        ({MODELS: {"data": []}}, 4096, 1),
        ({MODELS: {"data": "nonsense"}}, 4096, 1),
        ({MODELS: {"data": [{"id": "qwen", "meta": {"n_ctx": "many"}}]}, "GET /props": [1]}, 4096, 1),
        ({MODELS: {"data": [{"id": "qwen", "max_model_len": 10**400}]}}, 4096, 1),
        ({"GET /props": {"total_slots": 10**400, "default_generation_settings": {"n_ctx": 10**400}}}, 2048, 1),
    ],
)
def test_the_window_and_the_slots_are_what_the_server_says(
    faults: FaultServer, make: Any, side: Both, routes: dict[str, Any], window: int, slots: int
) -> None:
    for route, body in routes.items():
        faults.on(route, reply(body))
    if MODELS not in routes:
        faults.on(MODELS, ONE_MODEL)
    metadata = side.metadata(make(faults))
    assert (metadata.context_window, metadata.slots) == (window, slots)


@both
def test_a_server_without_any_such_endpoint_still_answers(faults: FaultServer, make: Any, side: Both) -> None:
    faults.on(CHAT, answer_of("Paris"))
    llm = make(faults, model="gpt", context_window=9000)
    assert side.text(llm) == "Paris"
    metadata = side.metadata(llm)
    assert (metadata.context_window, metadata.model_name, metadata.exact_counts) == (9000, "gpt", False)


@both
def test_a_smaller_window_than_the_served_one_is_kept(server: FaultServer, make: Any, side: Both) -> None:
    assert side.metadata(make(server, context_window=1000)).context_window == 1000


@both
def test_a_larger_window_than_the_served_one_fails_before_the_first_call(
    server: FaultServer, make: Any, side: Both
) -> None:
    server.on(CHAT, answer_of("x"))
    llm = make(server, context_window=4096)
    with pytest.raises(WindowAboveServed) as caught:
        side.items(llm)
    assert (caught.value.asked, caught.value.served, server.count(CHAT)) == (4096, 2048, 0)


@both
@pytest.mark.parametrize("name", ["qwen", "q", None, ""])
def test_a_served_model_is_known_by_its_id_and_aliases(
    server: FaultServer, make: Any, side: Both, name: str | None
) -> None:
    assert side.metadata(make(server, model=name)).model_name == (name or "qwen")


def test_of_ids_without_end_only_the_first_are_named(faults: FaultServer, make: Any) -> None:
    entries = [{"id": "x" * 1_000_000}, *({"id": f"m{number}"} for number in range(100_000))]
    faults.on(MODELS, reply({"data": entries}))
    with pytest.raises(ModelNotFound) as caught:
        _ = make(faults, model="gpt").metadata
    assert caught.value.served[:2] == ("m0", "m1")
    assert len(str(caught.value)) < 10_000
    assert make(faults, model="m99999").metadata.model_name == "m99999"


def test_a_model_listed_with_its_tag_is_found_without_it(faults: FaultServer, make: Any) -> None:
    faults.on(MODELS, reply({"data": [{"id": "llama3:latest"}]}))
    assert make(faults, model="llama3").metadata.model_name == "llama3"


@both
def test_an_unknown_model_fails_before_the_first_call_and_lists_the_served_ones(
    server: FaultServer, make: Any, side: Both
) -> None:
    with pytest.raises(ModelNotFound) as caught:
        side.items(make(server, model="gpt"))
    assert (caught.value.model, caught.value.served, server.count(CHAT)) == ("gpt", ("qwen", "q"), 0)


@both
def test_an_address_without_its_v1_is_named(faults: FaultServer, make: Any, side: Both) -> None:
    faults.on(MODELS, ONE_MODEL)
    with pytest.raises(ServerUnreachable) as caught:
        side.items(make(faults, api_base=faults.root))
    assert f"{faults.root}/v1" in caught.value.hint


@both
@pytest.mark.parametrize(
    ("script", "kind"),
    [
        (reply({"error": {"message": "Invalid API Key", "code": 401}}, 401), AuthenticationFailed),
        (reply({"error": {"message": "request (60 tokens) exceeds the available context size (10 tokens)"}}, 400),
         ContextWindowExceeded),
        (reply({"error": {"message": "bad grammar", "type": "invalid_request_error"}}, 400), RequestRefused),
        (reply({"error": {"message": "The model `qwen` does not exist."}}, 404), ModelNotFound),
        (reply({"error": {"message": "boom"}}, 500), RequestRefused),
        (reply(b"<html></html>", Content_Type="text/html"), BadResponse),
        (stream_of({"error": {"message": "request (60 tokens) exceeds the available context size (10 tokens)",
                              "code": 400}}), ContextWindowExceeded),
        (stream_of(done=False), BadResponse),
        ([Close()], ServerUnreachable),
    ],
)  # fmt: skip
def test_a_fault_before_any_text_is_its_own_kind(
    server: FaultServer, make: Any, side: Both, script: Any, kind: type[ServerError]
) -> None:
    server.on(CHAT, script)
    with pytest.raises(kind):
        side.items(make(server))


def test_a_model_that_went_away_is_named_with_the_served_ones(server: FaultServer, make: Any) -> None:
    server.on(CHAT, reply({"error": {"message": "The model `qwen` does not exist."}}, 404))
    with pytest.raises(ModelNotFound) as caught:
        make(server).complete("x")
    assert caught.value.served == ("qwen", "q")


@both
@pytest.mark.parametrize(
    "rest",
    [[Close()], [Reset()], [chunk(b"data: nonsense\n\n")], [chunk(event({"error": {"message": "out of memory"}}))],
     [Hang()]],
    ids=["closed", "reset", "nonsense", "error", "silence"],
)  # fmt: skip
def test_a_fault_after_text_keeps_the_text_and_is_not_tried_again(
    server: FaultServer, make: Any, side: Both, rest: list[Any]
) -> None:
    server.on(CHAT, [STREAM_HEAD, chunk(event(delta("some "))), chunk(event(delta("text"))), *rest])
    llm = make(server, max_retries=3, timeout=Timeout(silence=0.1))
    with pytest.raises(StreamInterrupted) as caught:
        side.items(llm)
    assert (caught.value.text_so_far, server.count(CHAT)) == ("some text", 1)


@both
def test_a_busy_server_is_tried_again(server: FaultServer, make: Any, side: Both) -> None:
    busy = reply({"error": {"message": "busy"}}, 503, Retry_After="0")
    server.on(CHAT, busy, busy, answer_of("Paris"))
    assert side.text(make(server, max_retries=2)) == "Paris"
    assert server.count(CHAT) == 3


def test_closing_a_stream_cancels_the_request_at_the_server(server: FaultServer, make: Any) -> None:
    closed = threading.Event()
    server.on(CHAT, [STREAM_HEAD, chunk(event(delta("a"))), UntilClientCloses(closed)])
    items = make(server).stream(QUESTION, Sampling())
    assert next(items) == Delta("a")
    items.close()
    assert closed.wait(PATIENCE)


def test_closing_an_asynchronous_stream_cancels_the_request_at_the_server(server: FaultServer, make: Any) -> None:
    closed = threading.Event()
    server.on(CHAT, [STREAM_HEAD, chunk(event(delta("a"))), UntilClientCloses(closed)])
    llm = make(server)

    async def main() -> bool:
        items = llm.astream(QUESTION, Sampling())
        assert await anext(items) == Delta("a")
        await items.aclose()
        return await asyncio.to_thread(closed.wait, PATIENCE)

    assert asyncio.run(main())


@both
def test_a_server_that_answers_a_streamed_request_whole_is_understood(
    server: FaultServer, make: Any, side: Both
) -> None:
    server.on(CHAT, reply({"choices": [{"message": {"content": "Paris"}, "finish_reason": "stop"}]}))
    assert side.text(make(server)) == "Paris"


@both
def test_reasoning_is_kept_apart_when_the_template_opens_its_tag(server: FaultServer, make: Any, side: Both) -> None:
    server.on("GET /props", reply({"total_slots": 1}))
    server.on("POST /apply-template", reply({"prompt": "<|user|>?<|assistant|><think>\n"}))
    server.on(CHAT, answer_of("Hm.", "</thi", "nk>\n\nParis"))
    *deltas, _ = side.items(make(server))
    assert deltas == [Delta("", "Hm."), Delta("Paris")]


@both
def test_a_template_that_opens_the_tag_is_learned_from_the_first_answer(
    server: FaultServer, make: Any, side: Both
) -> None:
    server.on(CHAT, answer_of("Hm.</think>Paris"), answer_of("Hm.</think>Rome"))
    llm = make(server)
    side.items(llm)
    assert side.items(llm)[:-1] == [Delta("", "Hm."), Delta("Rome")]


def test_reasoning_comes_with_the_whole_completion(server: FaultServer, make: Any) -> None:
    server.on(CHAT, stream_of(delta(None, reasoning_content="Hm."), delta("Paris", reason="stop")))
    response = make(server).complete("Where?")
    assert (response.text, response.raw.reasoning) == ("Paris", "Hm.")


@pytest.mark.parametrize(
    "options",
    [
        {"context_window": 0},
        {"max_tokens": 0},
        {"api_base": []},
        {"max_retries": -1},
        {"timeout": 0},
        {"tokenizer": 3},
        {"tokenizer": "/nowhere/tokenizer.json"},
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption):
        OpenAILike(**options)


@both
def test_an_unknown_keyword_of_a_call_is_refused_by_name(server: FaultServer, make: Any, side: Both) -> None:
    with pytest.raises(UnknownOption) as caught:
        side.call(make(server), "complete", "x", tempratur=0)
    assert caught.value.name == "tempratur"
