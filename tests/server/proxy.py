"""A proxy on loopback between a client and the service, which does what proxies do to streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

Passing: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass everything on as it comes."""
    while data := await reader.read(65_536):
        writer.write(data)
        await writer.drain()


def in_crumbs(size: int) -> Passing:
    """Pass everything on in pieces of that many bytes, whatever they cut through."""

    async def passing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            for start in range(0, len(data), size):
                writer.write(data[start : start + size])
                await writer.drain()
                await asyncio.sleep(0)

    return passing


def held_back(until: asyncio.Event) -> Passing:
    """Keep everything until the event, then pass it on as it comes."""

    async def passing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await until.wait()
        await at_once(reader, writer)

    return passing


def cut_after(sign: bytes) -> Passing:
    """Pass on until the reply holds `sign`, then close the connection without an end."""

    async def passing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen = b""
        while data := await reader.read(65_536):
            seen += data
            place = seen.find(sign)
            if place >= 0:
                keep = len(data) - (len(seen) - place - len(sign))
                writer.write(data[: max(keep, 0)])
                await writer.drain()
                return
            writer.write(data)

    return passing


@asynccontextmanager
async def a_proxy(port: int, passing: Passing) -> AsyncIterator[int]:
    """Listen for clients of the service at `port`; replies go through `passing`. Give the port to connect to."""
    under_way: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        under_way.add(task)
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
        ways = [asyncio.ensure_future(at_once(reader, up_writer)), asyncio.ensure_future(passing(up_reader, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for one in (writer, up_writer):
                one.close()
                with suppress(OSError):
                    await one.wait_closed()
            under_way.discard(task)

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(under_way):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
