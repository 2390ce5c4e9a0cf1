"""Several servers of one model: which of them gets a call. No I/O."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..http.client import HTTPClient
from .served import Served

# A prompt's beginning is known by the hashes of its blocks; a server's cache is taken to hold this many.
BLOCK_CHARACTERS: Final = 512
BLOCKS_A_PROMPT: Final = 256
BLOCKS_A_SERVER: Final = 8192

FIRST_PROBE: Final = 1.0
LONGEST_PROBE: Final = 30.0


@dataclass(eq=False)
class ModelServer:
    """One server and what is known of it.

    Args:
        client: Its client.
        served: What it serves, once it was asked.
        active: Calls it works on for us.
        failures: Faults in a row.
        probe_at: While it is left out, when it is to be asked again (monotonic seconds).
    """

    client: HTTPClient
    served: Served | None = None
    active: int = 0
    failures: int = 0
    probe_at: float | None = None
    blocks: OrderedDict[bytes, None] = field(default_factory=OrderedDict)

    @property
    def free(self) -> bool:
        """Whether it has a slot without a call of ours."""
        slots = self.served.slots if self.served is not None else None
        return self.active < (slots or 1)


class ServerPool:
    """Chooses the server of each call: one that knows the prompt's beginning and has a free slot, else the least busy.

    Args:
        clients: The servers' clients.
    """

    def __init__(self, clients: Sequence[HTTPClient]) -> None:
        self.servers = [ModelServer(client) for client in clients]
        self._lock = threading.Lock()

    def healthy(self) -> list[ModelServer]:
        """Return the servers that are not left out; all of them if every one is."""
        return [server for server in self.servers if server.probe_at is None] or list(self.servers)

    def to_probe(self) -> list[ModelServer]:
        """Return the servers left out that are to be asked again now; nobody else is given them meanwhile."""
        now = time.monotonic()
        with self._lock:
            due = [server for server in self.servers if server.probe_at is not None and server.probe_at <= now]
            for server in due:
                server.probe_at = now + LONGEST_PROBE
            return due

    def take(self, prompt: str, tried: Sequence[ModelServer] = ()) -> ModelServer:
        """Return the server for a prompt, one not tried yet if there is any, and count the call as its own."""
        blocks = list(_blocks(prompt)) if len(self.servers) > 1 else []
        with self._lock:
            candidates = self.healthy()
            candidates = [server for server in candidates if server not in tried] or candidates
            known = {id(server): _known(server, blocks) for server in candidates}
            chosen = min(
                candidates,
                key=lambda server: (
                    not server.free,
                    server.active if not server.free else 0,
                    -known[id(server)],
                    server.active,
                ),
            )
            chosen.active += 1
            for block in blocks:
                chosen.blocks[block] = None
                chosen.blocks.move_to_end(block)
            while len(chosen.blocks) > BLOCKS_A_SERVER:
                chosen.blocks.popitem(last=False)
            return chosen

    def give_back(self, server: ModelServer) -> None:
        """Note that a call has ended."""
        with self._lock:
            server.active -= 1

    def failed(self, server: ModelServer) -> None:
        """Leave a server out until it has been asked again; the pause doubles with every fault in a row."""
        with self._lock:
            pause = min(LONGEST_PROBE, FIRST_PROBE * float(2**server.failures))
            server.failures = min(server.failures + 1, 16)
            server.probe_at = time.monotonic() + pause
            server.blocks.clear()

    def well(self, server: ModelServer) -> None:
        """Note that a server answers."""
        with self._lock:
            server.failures = 0
            server.probe_at = None


def _known(server: ModelServer, blocks: Sequence[bytes]) -> int:
    count = 0
    for block in blocks:
        if block not in server.blocks:
            break
        count += 1
    return count


def _blocks(prompt: str) -> Iterator[bytes]:
    """Yield a hash for the prompt up to the end of each of its first blocks."""
    digest = hashlib.blake2b(digest_size=16)
    for start in range(0, min(len(prompt), BLOCK_CHARACTERS * BLOCKS_A_PROMPT), BLOCK_CHARACTERS):
        digest.update(prompt[start : start + BLOCK_CHARACTERS].encode("utf-8", "surrogatepass"))
        yield digest.digest()
