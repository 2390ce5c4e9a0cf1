"""What the service does for a request leaves the event loop free."""

from __future__ import annotations

import asyncio
import mimetypes
import subprocess
from pathlib import Path

from blockbuster import BlockBusterFunction, blockbuster_ctx
from tests.server.library import MANUAL, a_library, done, found, sent
from tests.server.support import in_process


def test_documents_are_taken_in_indexed_and_removed_without_blocking(tmp_path: Path) -> None:
    service = a_library(tmp_path)
    mimetypes.init()  # the client would, in the loop

    async def scene() -> None:
        async with in_process(service) as client:
            taken = await sent(client, ("manual.md", MANUAL), ("broken.pdf", b"%PDF-1.7 and nothing more"))
            await done(client, taken.job.id)
            document = taken.documents[0]
            await done(client, (await client.post(f"/v1/documents/{document.id}/reindex")).json()["id"])
            assert await found(client, "X200")
            await done(client, (await client.delete(f"/v1/documents/{document.id}")).json()["id"])

    with blockbuster_ctx() as watching:
        for name in ("wait", "communicate"):
            watching.functions[f"subprocess.Popen.{name}"] = BlockBusterFunction(subprocess.Popen, name)
            watching.functions[f"subprocess.Popen.{name}"].activate()
        asyncio.run(scene())
