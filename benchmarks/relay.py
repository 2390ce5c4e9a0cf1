"""A relay in front of a model server that notes when tokens pass: `python relay.py HOST PORT`.

It prints its port, then for each reply a line: when the first token of an answer came from the server, in monotonic
seconds, which all processes of a machine share. It ends when its standard input closes.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time

# An event that holds a piece of text.
PIECE = re.compile(rb'"content":\s*"[^"]')


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, notes: bool) -> None:
    waiting = notes
    while data := await reader.read(65536):
        if waiting and PIECE.search(data):
            waiting = False
            print(time.monotonic(), flush=True)
        writer.write(data)
        await writer.drain()
    writer.close()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
    from_server, to_server = await asyncio.open_connection(host, port)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on(reader, to_server, notes=False))
            group.create_task(_pass_on(from_server, writer, notes=True))
    except* ConnectionError:
        pass
    finally:
        to_server.close()
        writer.close()


async def _serve(host: str, port: int) -> None:
    relays: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relays.add(asyncio.create_task(_relay(reader, writer, host, port)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2])))
