"""A streamed answer is read the same whatever a server adds to it, leaves out, or cuts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.faults import delta, event

from responsa.http.sse import SSEReader
from responsa.llms.chunks import ChunkReader
from responsa.schema.completions import Delta, Finish, StreamItem, Usage
from responsa.schema.errors import (
    BadResponse,
    ContextWindowExceeded,
    RateLimited,
    RequestRefused,
    ServerError,
    ServerTimeout,
    StreamInterrupted,
)

URL = "http://server/v1/chat/completions"

# Bytes as servers sent them.
LLAMA_SERVER = (
    b'data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"model":"m"}\n\n'
    b'data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"hello"}}],"model":"m"}\n\n'
    + 'data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":" 你好"}}],"model":"m"}\n\n'.encode()
    + b'data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"model":"m"}\n\n'
    b'data: {"choices":[],"model":"m","usage":{"completion_tokens":3,"prompt_tokens":31,"total_tokens":34,'
    b'"prompt_tokens_details":{"cached_tokens":30}},"timings":{"cache_n":30,"prompt_n":1,"prompt_ms":23.486,'
    b'"predicted_n":3,"predicted_ms":45.95,"predicted_per_second":null}}\n\n'
    b"data: [DONE]\n\n"
)
COMPLETIONS = (
    b'data: {"choices":[{"text":"hello","index":0,"logprobs":null,"finish_reason":null}],"model":"m"}\n\n'
    + 'data: {"choices":[{"text":" 你好","index":0,"logprobs":null,"finish_reason":null}],"model":"m"}\n\n'.encode()
    + b'data: {"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"stop"}],"model":"m","usage":'
    b'{"completion_tokens":3,"prompt_tokens":31,"prompt_tokens_details":{"cached_tokens":30}},'
    b'"timings":{"prompt_ms":23.486,"predicted_ms":45.95}}\n\n'
    b"data: [DONE]\n\n"
)


def read(stream: bytes, cut: int = 0) -> list[StreamItem]:
    events = SSEReader(URL)
    reader = ChunkReader(URL)
    items: list[StreamItem] = []
    for data in [*events.feed(stream[:cut]), *events.feed(stream[cut:]), *events.close()]:
        items += reader.feed(data)
    if events.done:
        items += reader.feed(b"[DONE]")
    return items + reader.finish()


def items_of(*payloads: Any, done: bool = True) -> list[StreamItem]:
    return read(b"".join(event(payload) for payload in payloads) + (b"data: [DONE]\n\n" if done else b""))


def text_of(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, Delta))


def reasoning_of(items: list[StreamItem]) -> str:
    return "".join(item.reasoning for item in items if isinstance(item, Delta))


def finish_of(items: list[StreamItem]) -> Finish:
    (finish,) = [item for item in items if isinstance(item, Finish)]
    assert items[-1] is finish
    return finish


@pytest.mark.parametrize("stream", [LLAMA_SERVER, COMPLETIONS], ids=["chat", "completions"])
def test_recorded_bytes_cut_at_every_position_give_the_same_answer(stream: bytes) -> None:
    for cut in range(len(stream) + 1):
        items = read(stream, cut)
        assert items[:-1] == [Delta("hello"), Delta(" 你好")]
        finish = finish_of(items)
        assert (finish.reason, finish.model, finish.usage) == ("stop", "m", Usage(31, 3, 30))
        assert finish.timings.server_prompt == pytest.approx(0.023486)
        assert finish.timings.server_predicted == pytest.approx(0.04595)


@pytest.mark.parametrize(
    ("payloads", "text", "reasoning"),
    [
        ([delta("a"), delta("b", reason="stop")], "ab", ""),
        ([delta(None, reasoning_content="r"), delta("a", reason="stop")], "a", "r"),
        ([delta(None, reasoning="r"), delta("a", reason="stop")], "a", "r"),
        ([delta("", reasoning="r"), delta("a", reasoning=None, reason="stop")], "a", "r"),
        ([delta("a", reasoning="r", reason="stop")], "a", "r"),
        ([delta("<think>r"), delta("r</thi"), delta("nk>a", reason="stop")], "a", "rr"),
        ([delta(None, reasoning_content="r", reason="stop")], "", "r"),
        ([{"choices": []}, delta("a"), {"choices": None}, {"object": "x"}, delta(reason="stop")], "a", ""),
        ([delta("a"), {"choices": [{"index": 1, "delta": {"content": "other"}}]}, delta(reason="stop")], "a", ""),
        ([delta("a"), {"choices": [{"delta": {"content": ["b"]}}]}, delta(reason="stop")], "a", ""),
        ([{"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}], "whole", ""),
        ([{"choices": [{"message": {"content": "a", "reasoning_content": "r"}, "finish_reason": "stop"}]}], "a", "r"),
    ],
)  # fmt: skip
def test_text_and_reasoning_are_told_apart_in_every_form(payloads: list[Any], text: str, reasoning: str) -> None:
    items = items_of(*payloads)
    assert (text_of(items), reasoning_of(items)) == (text, reasoning)
    assert finish_of(items).reason == "stop"


def test_the_arguments_of_a_called_function_are_the_text_where_they_were_asked_for() -> None:
    calls = [
        delta(None, tool_calls=[{"index": 0, "function": {"name": "answer", "arguments": '{"a"'}}]),
        delta(None, tool_calls=[{"index": 0, "function": {"arguments": ":1}"}}], reason="tool_calls"),
    ]
    reader = ChunkReader(URL, calls_function=True)
    assert text_of([item for call in calls for item in reader.feed(json.dumps(call).encode())]) == '{"a":1}'


def test_usage_is_made_of_timings_where_a_server_gives_no_other() -> None:
    end = {**delta(reason="stop"), "timings": {"cache_n": 10, "prompt_n": 5, "predicted_n": 2}}
    assert finish_of(items_of(delta("a"), end)).usage == Usage(15, 2, 10)


@pytest.mark.parametrize("figure", [-0.5, 10**400, True, "5", None, [], float("nan"), float("inf")])
def test_times_that_are_none_are_left_out(figure: Any) -> None:
    end = {**delta(reason="stop"), "timings": {"prompt_ms": figure, "predicted_ms": figure}}
    timings = finish_of(items_of(delta("a"), end)).timings
    assert (timings.server_prompt, timings.server_predicted) == (None, None)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {"prompt_tokens": "x", "completion_tokens": -1},
        {"prompt_tokens": True},
        {"prompt_tokens": 10**400, "prompt_tokens_details": {"cached_tokens": 10**400}},
    ],
)
def test_a_usage_that_makes_no_sense_is_none(usage: Any) -> None:
    assert finish_of(items_of(delta("a", reason="stop"), {"choices": [], "usage": usage})).usage == Usage()


def test_a_time_that_nothing_can_be_divided_by_is_none_at_all() -> None:
    end = {**delta(reason="stop"), "timings": {"prompt_ms": 5e-324}}
    assert finish_of(items_of(delta("a"), end)).timings.server_prompt == 0


@pytest.mark.parametrize(
    ("payloads", "done"), [([delta("a"), delta(reason="length")], False), ([delta("a")], True)], ids=["reason", "done"]
)
def test_an_answer_is_whole_with_a_reason_or_with_done(payloads: list[Any], done: bool) -> None:
    assert text_of(items_of(*payloads, done=done)) == "a"


def test_an_answer_with_neither_is_an_interruption_that_keeps_the_text() -> None:
    with pytest.raises(StreamInterrupted) as caught:
        items_of(delta("some "), delta("text"), done=False)
    assert caught.value.text_so_far == "some text"


def test_a_stream_with_nothing_in_it_is_no_answer() -> None:
    with pytest.raises(BadResponse):
        items_of(done=False)


def test_an_empty_answer_is_an_answer() -> None:
    assert text_of(items_of(delta(reason="stop"))) == ""


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"message": "request (60 tokens) exceeds the available context size (10 tokens)", "code": 400},
         ContextWindowExceeded),
        ({"message": "slow down", "code": 429}, RateLimited),
        ({"message": "out of memory", "type": "server_error"}, RequestRefused),
        ("plain words", RequestRefused),
    ],
)  # fmt: skip
def test_an_error_inside_a_stream_is_its_own_kind(error: Any, kind: type[ServerError]) -> None:
    with pytest.raises(kind):
        ChunkReader(URL).feed(json.dumps({"error": error}).encode())


@pytest.mark.parametrize(
    "data", [b"", b"nonsense", b"[1]", b"3", b"null", b'{"choices":[3]}', b'{"choices":{"a":1}}', b'{"choices":"x"}',
             b"\xff", b"[" * 100_000, b'{"choices":[{"delta":"text"}]}'],
)  # fmt: skip
def test_data_that_is_no_chunk_is_refused(data: bytes) -> None:
    with pytest.raises(BadResponse):
        ChunkReader(URL).feed(data)


def test_a_fault_after_text_keeps_the_text_and_before_it_stays_what_it_is() -> None:
    reader = ChunkReader(URL)
    fault = ServerTimeout(URL, 3.0)
    assert reader.broken(fault) is fault
    reader.feed(json.dumps(delta("some text")).encode())
    broken = reader.broken(fault)
    assert isinstance(broken, StreamInterrupted)
    assert broken.text_so_far == "some text"


STRINGS = st.one_of(
    st.text(max_size=6), st.sampled_from(['"', "\\", "stop", "assistant", "m", "x", '"},{"', "\x00", "é"])
)


@given(
    st.lists(st.tuples(st.sampled_from(["content", "reasoning_content", "text"]), STRINGS), max_size=8), st.booleans()
)
def test_chunks_alike_but_for_their_text_are_read_as_if_each_were_parsed(
    pieces: list[tuple[str, str]], ascii_only: bool
) -> None:
    reader = ChunkReader(URL)
    found: list[tuple[str, str]] = []
    for key, text in [("content", "begin"), *pieces]:
        chunk = {"model": "m", "choices": [{"delta": {"role": "assistant", key: text}, "x": {"text": "x"}}], "y": "é"}
        for item in reader.feed(json.dumps(chunk, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")):
            assert isinstance(item, Delta)
            found.append((item.text, item.reasoning))
    expected = [("", text) if key == "reasoning_content" else (text, "") for key, text in pieces if text]
    assert found == [("begin", ""), *expected]


def test_a_chunk_that_only_begins_like_the_last_is_parsed() -> None:
    reader = ChunkReader(URL)
    like = b'{"model":"m","choices":[{"delta":{"content":"%s"}}]}'
    assert reader.feed(like % b"a") == reader.feed(like % b"a") == [Delta("a")]
    assert reader.feed(b'{"model":"m","choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}') == [Delta("a")]
    (finish,) = reader.finish()
    assert isinstance(finish, Finish)
    assert finish.reason == "stop"
    with pytest.raises(BadResponse):
        ChunkReader(URL).feed(like % b"\xff")


def test_a_chunk_like_the_last_with_bytes_that_are_no_text_is_refused() -> None:
    reader = ChunkReader(URL)
    like = b'{"model":"m","choices":[{"delta":{"content":"%s"}}]}'
    reader.feed(like % b"a")
    with pytest.raises(BadResponse):
        reader.feed(like % b"\xff")


@pytest.mark.parametrize("max_tokens", [None, 10])
def test_an_answer_that_does_not_end_is_ended_and_keeps_its_text(
    max_tokens: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("responsa.llms.chunks.LONGEST_ANSWER", 1_100)
    reader = ChunkReader(URL, max_tokens=max_tokens)
    data = json.dumps({"choices": [{"index": 0, "delta": {"content": "word " * 20}}]}).encode()
    for _ in range(11):
        reader.feed(data)
    with pytest.raises(BadResponse, match="far beyond") as caught:
        reader.feed(data)
    broken = reader.broken(caught.value)
    assert isinstance(broken, StreamInterrupted)
    assert broken.text_so_far == "word " * 220
    assert broken.reason == "the answer goes on far beyond the tokens it was allowed"


def test_reasoning_may_be_longer_than_the_answers_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = ChunkReader(URL, max_tokens=1)
    data = json.dumps({"choices": [{"index": 0, "delta": {"reasoning_content": "hm " * 1000}}]}).encode()
    assert reader.feed(data) + reader.feed(data)
    monkeypatch.setattr(reader, "_reasoning_room", 0)
    with pytest.raises(BadResponse, match="far beyond"):
        reader.feed(data)
