from itertools import pairwise

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.http.chunked import ChunkedDecoder, NotChunked

BODIES = st.lists(
    st.binary(min_size=1, max_size=40) | st.sampled_from([b"\r\n", b"0\r\n\r\n", b"a" * 5000]), max_size=6
)


def chunked(parts: list[bytes], extension: bytes = b"", trailer: bytes = b"") -> bytes:
    chunks = [b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts]
    return b"".join(chunks) + b"0\r\n" + trailer + b"\r\n"


@given(
    parts=BODIES,
    cuts=st.lists(st.integers(0, 6000), max_size=30),
    extension=st.sampled_from([b"", b";x=y", b" ;a"]),
    trailer=st.sampled_from([b"", b"Digest: x\r\nB: c\r\n"]),
    after=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n"]),
)
def test_the_content_is_the_same_wherever_the_bytes_are_cut(
    parts: list[bytes], cuts: list[int], extension: bytes, trailer: bytes, after: bytes
) -> None:
    data = chunked(parts, extension, trailer) + after
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    reader = ChunkedDecoder()
    found, end = b"", 0
    for start, end in pairwise(places):
        found += reader.feed(data[start:end])
        if reader.done:
            break
    assert found == b"".join(parts)
    assert reader.done
    assert reader.rest + data[end:] == after


def test_each_byte_alone_gives_the_same() -> None:
    reader = ChunkedDecoder()
    found = [reader.feed(bytes([byte])) for byte in chunked([b"data: a\n\n", b"data: b\n\n"])]
    assert b"".join(found) == b"data: a\n\ndata: b\n\n"
    assert reader.done


@pytest.mark.parametrize(
    "data",
    [
        b"hello\r\n",
        b"\r\n",
        b"-1\r\n",
        b"0x5\r\nhello\r\n",
        b"5_0\r\n",
        b"+5\r\nhello\r\n",
        b"123456789\r\n",
        b"5\r\nhelloXX0\r\n\r\n",
        b"5\nhello\r\n",
        b"f" * 5000,
        "５\r\nhello\r\n".encode(),
    ],
)
def test_what_is_no_chunk_is_refused(data: bytes) -> None:
    with pytest.raises(NotChunked):
        ChunkedDecoder().feed(data)


@given(parts=BODIES)
def test_it_reads_what_the_http_library_reads(parts: list[bytes]) -> None:
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(parts))
    found = b""
    while isinstance(event := connection.next_event(), h11.Response | h11.Data):
        found += event.data if isinstance(event, h11.Data) else b""
    assert ChunkedDecoder().feed(chunked(parts)) == found
