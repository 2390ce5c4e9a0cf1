"""A service with an index to fill, and ways to fill it and to look into it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
from tests.server.support import a_service

from responsa.indices import VectorStoreIndex
from responsa.retrieval.stores import MemoryStore, StoreMeta
from responsa.server import Service
from responsa.server.models.documents import DocumentsReply, JobReply, TakenReply
from responsa.testing.embedder import BagOfWordsEmbedder

MANUAL = b"# Pump manual\n\nThe X200 pump needs ISO VG 46 oil."


class HeldEmbedder(BagOfWordsEmbedder):
    """Embeds when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.allowed = asyncio.Event()

    async def aget_text_embedding_batch(self, texts: Any) -> Any:
        self.begun.set()
        await self.allowed.wait()
        return await super().aget_text_embedding_batch(texts)


class CountedEmbedder(BagOfWordsEmbedder):
    """Embeds so many batches, then never again."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self.left = batches
        self.held = asyncio.Event()

    async def aget_text_embedding_batch(self, texts: Any) -> Any:
        if not self.left:
            self.held.set()
            await asyncio.Event().wait()
        self.left -= 1
        return await super().aget_text_embedding_batch(texts)


def empty_index() -> VectorStoreIndex:
    embedder = BagOfWordsEmbedder()
    dimensions = len(embedder.get_text_embedding_batch(["one"])[0])
    return VectorStoreIndex(MemoryStore(StoreMeta(embedder.model_name, dimensions)), embed_model=embedder)


def a_library(tmp_path: Path, **settings: Any) -> Service:
    return a_service(tmp_path, indexes={"docs": empty_index()}, **settings)


async def sent(client: httpx2.AsyncClient, *files: tuple[str, bytes]) -> TakenReply:
    """Send files and return what was taken."""
    reply = await client.post("/v1/documents", files=[("files", file) for file in files])
    assert reply.status_code == 202, reply.text
    return TakenReply.model_validate(reply.json())


async def ended(client: httpx2.AsyncClient, job_id: str) -> JobReply:
    """Wait for a job's end."""
    async with asyncio.timeout(120):
        while True:
            job = JobReply.model_validate((await client.get(f"/v1/jobs/{job_id}")).json())
            if job.state not in ("queued", "running"):
                return job
            await asyncio.sleep(0.01)


async def done(client: httpx2.AsyncClient, job_id: str) -> JobReply:
    job = await ended(client, job_id)
    assert (job.state, job.error) == ("done", None)
    return job


async def found(client: httpx2.AsyncClient, question: str) -> list[str]:
    reply = await client.post("/v1/search", json={"question": question, "by": "words"})
    return [hit["text"] for hit in reply.json()["hits"]]


async def listed(client: httpx2.AsyncClient) -> list[tuple[str, str, str, int]]:
    reply = DocumentsReply.model_validate((await client.get("/v1/documents")).json())
    return [(one.name, one.media_type, one.state, one.parts) for one in reply.documents]
