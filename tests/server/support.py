"""A service to test: a scripted model, an index in memory, and ways to talk to it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from responsa.indices import VectorStoreIndex
from responsa.schema.completions import Delta, Finish, Sampling, StreamItem
from responsa.schema.messages import ChatMessage
from responsa.schema.nodes import Document
from responsa.schema.protocols import LLM
from responsa.server import Service, create_app, load_settings
from responsa.server.serving import server_config
from responsa.testing import ScriptedLLM
from responsa.testing.embedder import BagOfWordsEmbedder

PASSAGES = [
    {"id": "pump", "text": "The X200 pump needs ISO VG 46 oil.", "metadata": {"title": "Pump manual", "page": 3}},
    {"id": "valve", "text": "The valve opens at 3 bar.", "metadata": {"url": "https://docs.example/valve"}},
]
QUESTION = {"question": "Which oil does the X200 pump need?", "nodes": PASSAGES}
ANSWER = "The X200 pump needs ISO VG 46 oil [1]."


class SteppedLLM(ScriptedLLM):
    """Gives a piece of its answer each time the test lets it, and notes when its stream is closed."""

    def __init__(self, pieces: Sequence[str] = ("One ", "two ", "three."), **options: Any) -> None:
        super().__init__("".join(pieces), **options)
        self.pieces = pieces
        self.allowed = asyncio.Semaphore(0)
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()

    def allow(self, count: int = 1) -> None:
        for _ in range(count):
            self.allowed.release()

    async def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]:
        self.prompts.append(tuple(messages))
        self.under_way += 1
        self.begun.set()
        try:
            for piece in self.pieces:
                await self.allowed.acquire()
                yield Delta(piece)
            yield Finish("stop")
        except (GeneratorExit, asyncio.CancelledError):
            self.closed += 1
            raise
        finally:
            self.under_way -= 1
            self.ended.set()


def an_index(*documents: Document) -> VectorStoreIndex:
    """An index in memory of a few documents."""
    found = documents or (
        Document("The X200 pump needs ISO VG 46 oil.", id_="pump", metadata={"title": "Pump manual"}),
        Document("The valve opens at 3 bar.", id_="valve", metadata={"file_path": "/secret/place/valve.md"}),
        Document("A member can borrow up to eight books.", id_="library", metadata={"title": "Library"}),
    )
    return VectorStoreIndex.from_documents(found, embed_model=BagOfWordsEmbedder())


def a_service(
    tmp_path: Path, llm: LLM | None = None, *, indexes: Mapping[str, VectorStoreIndex] | None = None, **settings: Any
) -> Service:
    """A service that asks for no key, unless told otherwise."""
    values = {"no_auth": True, "data_dir": tmp_path, **settings}
    return Service(load_settings(values), llm=llm or ScriptedLLM(ANSWER), indexes=indexes)


@asynccontextmanager
async def in_process(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that talks to the application without a socket."""
    app = create_app(service)
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        yield client


@asynccontextmanager
async def on_a_socket(service: Service, *, send_buffer: int | None = None) -> AsyncIterator[httpx2.AsyncClient]:
    """A client that talks to a real server in this event loop, whose system keeps so many bytes to be sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if send_buffer is not None:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        server = uvicorn.Server(server_config(service))
        serving = asyncio.ensure_future(server.serve([listener]))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
                yield client
        finally:
            server.should_exit = True
            await serving


@dataclass(frozen=True)
class Sent:
    """One event as a client reads it."""

    id: int | None
    name: str
    data: Any


def parsed(text: str) -> list[Sent]:
    """The events of a whole stream; comments are left out."""
    return [event for block in text.split("\n\n") if (event := one_event(block)) is not None]


def one_event(block: str) -> Sent | None:
    """One event of a stream; None for a comment."""
    fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
    if not fields:
        return None
    number = int(fields["id"]) if "id" in fields else None
    return Sent(number, fields["event"], json.loads(fields["data"]))


def events_in(response: httpx2.Response) -> Iterator[Sent]:
    """The events of a stream as they come, to a client that blocks."""
    buffer = ""
    for piece in response.iter_text():
        *blocks, buffer = (buffer + piece).split("\n\n")
        yield from filter(None, map(one_event, blocks))


async def events_of(response: httpx2.Response) -> AsyncIterator[Sent]:
    """The events of a stream as they come."""
    buffer = ""
    async for piece in response.aiter_text():
        buffer += piece
        *blocks, buffer = buffer.split("\n\n")
        for block in blocks:
            event = one_event(block)
            if event is not None:
                yield event


def text_of(events: Sequence[Sent]) -> str:
    """The answer's text as a stream gave it."""
    return "".join(event.data["text"] for event in events if event.name == "text_delta")
