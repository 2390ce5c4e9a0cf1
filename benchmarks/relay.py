"""A relay in front of a model server that notes when tokens pass: `python relay.py HOST PORT`.

It prints its port, then for each answer a line: when the first token of an answer came from the server, in monotonic
seconds, which all processes of a machine share. It ends when its standard input closes.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time

# The head of a request for an answer, and an event that holds a piece of text.
QUESTION = re.compile(rb"POST \S*/completions ")
PIECE = re.compile(rb'"content":\s*"[^"]')


class Relay:
    """One connection of a client, and the server's own beside it."""

    def __init__(self) -> None:
        self.waiting = False

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, port: int) -> None:
        """Pass everything on until one side ends."""
        from_server, to_server = await asyncio.open_connection(host, port)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._ask(reader, to_server))
                group.create_task(self._answer(from_server, writer))
        except* ConnectionError:
            pass
        finally:
            to_server.close()
            writer.close()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            # A connection serves one question after another.
            self.waiting = self.waiting or QUESTION.match(data) is not None
            writer.write(data)
            await writer.drain()
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self.waiting and PIECE.search(data):
                self.waiting = False
                print(time.monotonic(), flush=True)
            writer.write(data)
            await writer.drain()
        writer.close()


async def _serve(host: str, port: int) -> None:
    relays: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relays.add(asyncio.create_task(Relay().run(reader, writer, host, port)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2])))
