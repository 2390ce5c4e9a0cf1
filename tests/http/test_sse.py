"""Server-sent events are read the same however their bytes are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.http.sse import PlainReader, SSEReader
from responsa.schema.errors import BadResponse

# As llama-server sent it; the text holds characters of one to four bytes.
LLAMA_SERVER = (
    'data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]}\n\n'
    'data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Größe 你好 👍"}}]}\n\n'
    'data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}]}\n\n'
    'data: {"choices":[],"usage":{"completion_tokens":3,"prompt_tokens":31}}\n\n'
    "data: [DONE]\n\n"
).encode()

STREAMS = {
    "as llama-server sends it": (LLAMA_SERVER, 4, True),
    "CRLF": (LLAMA_SERVER.replace(b"\n", b"\r\n"), 4, True),
    "CR alone": (LLAMA_SERVER.replace(b"\n", b"\r"), 4, True),
    "comments and keep-alives": (b": ping\n\n:\n\n" + LLAMA_SERVER.replace(b"\n\ndata", b"\n\n: ping\ndata"), 4, True),
    "byte order mark": (b"\xef\xbb\xbf" + LLAMA_SERVER, 4, True),
    "no space after the colon": (LLAMA_SERVER.replace(b"data: ", b"data:"), 4, True),
    "other fields": (b"retry: 10\nid: 1\nevent: message\n" + LLAMA_SERVER, 4, True),
    "no [DONE]": (LLAMA_SERVER.removesuffix(b"data: [DONE]\n\n"), 4, False),
    "no blank line at the end": (LLAMA_SERVER.removesuffix(b"\n\n"), 4, True),
    "events after [DONE]": (LLAMA_SERVER + b"data: late\n\n", 4, True),
    "nothing": (b"", 0, False),
    "only a comment": (b": ping\n\n", 0, False),
}


def read(*chunks: bytes) -> tuple[list[bytes], bool]:
    reader = SSEReader("http://server/v1")
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return events + reader.close(), reader.done


@pytest.mark.parametrize(("stream", "count", "done"), STREAMS.values(), ids=STREAMS.keys())
def test_a_stream_cut_anywhere_gives_the_same_events(stream: bytes, count: int, done: bool) -> None:
    whole = read(stream)
    assert (len(whole[0]), whole[1]) == (count, done)
    for cut in range(len(stream) + 1):
        assert read(stream[:cut], stream[cut:]) == whole
    assert read(*(stream[place : place + 1] for place in range(len(stream)))) == whole


def test_the_data_lines_of_one_event_are_joined() -> None:
    assert read(b"data: a\ndata:\ndata:  b\n\n")[0] == [b"a\n\n b"]


@given(st.lists(st.text(alphabet="ab: \u4f60", max_size=8), max_size=6), st.data())
def test_any_cutting_of_any_lines_gives_the_same_events(lines: list[str], data: st.DataObject) -> None:
    endings = data.draw(st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=len(lines), max_size=len(lines)))
    stream = "".join(f"data: {line}{ending}{ending}" for line, ending in zip(lines, endings, strict=True)).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    places = [0, *cuts, len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(places)]
    assert read(*pieces)[0] == [line.encode() for line in lines]


def test_events_are_handed_on_as_soon_as_they_are_complete() -> None:
    reader = SSEReader("u")
    assert reader.feed(b"data: a\n") == []
    assert reader.feed(b"\ndata: b\n\ndata: c") == [b"a", b"b"]
    assert reader.close() == [b"c"]


@pytest.mark.parametrize("chunk", [b"data: " + b"x" * 50, b": " + b"x" * 50, b"data: xxxxxxxxxxxxxxxxxxx\n" * 3])
def test_an_endless_event_is_refused(chunk: bytes) -> None:
    reader = SSEReader("http://server/v1", max_event_bytes=40)
    with pytest.raises(BadResponse) as caught:
        for start in range(0, len(chunk), 10):
            reader.feed(chunk[start : start + 10])
    assert caught.value.url == "http://server/v1"


def test_a_plain_body_is_one_event_at_its_end() -> None:
    reader = PlainReader("u", max_bytes=8)
    assert (reader.feed(b'{"a"'), reader.feed(b":1}"), reader.close(), reader.done) == ([], [], [b'{"a":1}'], False)
    with pytest.raises(BadResponse):
        reader.feed(b"xx")
