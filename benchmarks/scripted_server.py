"""A model server that streams a fixed answer at a fixed pace: `python scripted_server.py TOKENS TOKENS_A_SECOND`.

It prints its port, and ends when its standard input closes. Every token is an event of its own, with the fields
llama-server sends; its text is the time it was sent at (monotonic microseconds, the same for all processes).
All streams get their tokens in one beat, so that the server itself costs little.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
MODELS = json.dumps({"object": "list", "data": [{"id": "scripted"}]}).encode()


def event(payload: bytes) -> bytes:
    """Return one server-sent event as one chunk of the reply."""
    data = b"data: " + payload + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


def token(text: str, reason: str | None = None) -> bytes:
    """Return the chunk of one token with the fields llama-server sends."""
    delta = {"content": text} if reason is None else {}
    payload = {
        "choices": [{"finish_reason": reason, "index": 0, "delta": delta}],
        "created": int(time.time()),
        "id": "chatcmpl-9LfLV4kI2JDFioPOiLrfgrwUsHL1I1iR",
        "model": "scripted",
        "system_fingerprint": "b0-unknown",
        "object": "chat.completion.chunk",
    }
    return event(json.dumps(payload).encode())


END = token("", "stop") + event(b"[DONE]") + b"0\r\n\r\n"


class Answers:
    """The answers under way, and the beat that gives each its next token."""

    def __init__(self, tokens: int, pace: float) -> None:
        self.tokens = tokens
        self.pace = pace
        self.under_way: dict[asyncio.StreamWriter, tuple[int, asyncio.Event]] = {}

    async def give(self, writer: asyncio.StreamWriter) -> None:
        """Stream one answer."""
        writer.write(HEAD)
        ended = asyncio.Event()
        self.under_way[writer] = (self.tokens, ended)
        await ended.wait()

    async def beat(self) -> None:
        """Give every answer its next token, for ever."""
        begin, beats = time.monotonic(), 0
        while True:
            piece = token(f"{time.monotonic_ns() // 1000} ")
            for writer, (left, ended) in list(self.under_way.items()):
                if left and not writer.is_closing():
                    writer.write(piece)
                    self.under_way[writer] = (left - 1, ended)
                else:
                    writer.write(END)
                    del self.under_way[writer]
                    ended.set()
            beats += 1
            await asyncio.sleep(max(0.0, begin + beats / self.pace - time.monotonic()))


async def serve(answers: Answers) -> None:
    """Serve until standard input closes."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                sizes = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                await reader.readexactly(int(sizes[0].partition(b":")[2]) if sizes else 0)
                if head.startswith(b"GET /v1/models"):
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                    writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(MODELS), MODELS))
                elif head.startswith(b"POST"):
                    await answers.give(writer)
                else:
                    writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=4096)
    beating = asyncio.ensure_future(answers.beat())
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    beating.cancel()
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(Answers(int(sys.argv[1]), float(sys.argv[2]))))
