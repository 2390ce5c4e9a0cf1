"""Documents indexed anew: found meanwhile, lost by nothing, all of an index by one request."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.library import (
    CountedEmbedder,
    HeldEmbedder,
    a_library,
    done,
    empty_index,
    ended,
    found,
    listed,
    sent,
)
from tests.server.support import a_service, in_process

from responsa import Settings
from responsa.indices import VectorStoreIndex
from responsa.schema.nodes import Document
from responsa.server.documents import documents
from responsa.server.models.documents import JobReply
from responsa.testing.embedder import BagOfWordsEmbedder


def facts(count: int) -> bytes:
    return b"\n".join(b'{"question": "What is number %d?", "answer": "Number %d."}' % (n, n) for n in range(count))


async def reindexed(client: httpx2.AsyncClient, path: str = "/v1/documents/reindex") -> JobReply:
    """Ask for documents to be indexed anew."""
    reply = await client.post(path)
    assert reply.status_code == 202, reply.text
    return JobReply.model_validate(reply.json())


def test_what_is_indexed_anew_is_found_meanwhile_and_once_afterwards(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = HeldEmbedder()
        embedder.allowed.set()
        index = VectorStoreIndex(empty_index().store, embed_model=embedder)
        async with in_process(a_service(tmp_path, indexes={"docs": index})) as client:
            taken = await sent(client, ("facts.jsonl", facts(5)))
            await done(client, taken.job.id)
            before = await found(client, "number")
            assert len(before) == 5
            for path in (f"/v1/documents/{taken.documents[0].id}/reindex", "/v1/documents/reindex?index=docs"):
                embedder.begun.clear()
                embedder.allowed.clear()
                job = await reindexed(client, path)
                await asyncio.wait_for(embedder.begun.wait(), 60)
                assert await found(client, "number") == before
                embedder.allowed.set()
                ended_job = await done(client, job.id)
                assert (ended_job.kind, ended_job.files_done, ended_job.files_total, ended_job.passages) == (
                    *("reindex", 1, 1),
                    5,
                )
                assert await found(client, "number") == before

    asyncio.run(scene())


def test_a_file_that_can_no_longer_be_read_keeps_what_is_in_the_index(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_library(tmp_path)) as client:
            taken = await sent(client, ("facts.jsonl", facts(3)), ("other.md", b"The valve opens at 3 bar."))
            await done(client, taken.job.id)
            [broken] = [one.id for one in taken.documents if one.name == "facts.jsonl"]
            (tmp_path / "documents" / f"content-{broken}").write_bytes(b"\x7fELF" + b"\0\xff" * 100)
            job = await done(client, (await reindexed(client)).id)
            assert [one.name for one in job.skipped] == ["facts.jsonl"]
            assert (job.files_done, job.files_total, job.passages) == (2, 2, 1)
            assert {name: state for name, _, state, _ in await listed(client)} == {
                "facts.jsonl": "unreadable",
                "other.md": "indexed",
            }
            assert len(await found(client, "number")) == 3
            assert len(await found(client, "valve")) == 1

    asyncio.run(scene())


def test_what_a_file_has_no_longer_leaves_the_index(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_library(tmp_path)
        async with in_process(service) as client:
            taken = await sent(client, ("facts.jsonl", facts(5)))
            await done(client, taken.job.id)
            index = await service.indexes.get("docs")
            foreign = [f"{taken.documents[0].id}.of-an-older-version", "of-another-hand"]
            await index.arefresh([Document("A number.", id_=one) for one in foreign])
            await done(client, (await reindexed(client)).id)
            assert "of-another-hand" in await index.store.adocument_hashes()
            assert len(await found(client, "number")) == 6
            again = await sent(client, ("facts.jsonl", facts(2)))
            await done(client, again.job.id)
            assert len(await found(client, "number")) == 3
            assert [parts for *_, parts in await listed(client)] == [2]

    asyncio.run(scene())


def test_all_documents_of_an_index_are_indexed_anew_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "FILES_AT_A_TIME", 2)

    async def scene() -> None:
        other = empty_index()
        async with in_process(a_service(tmp_path, indexes={"docs": empty_index(), "other": other})) as client:
            files = [(f"{n}.md", f"This is page number {n}.".encode()) for n in range(5)]
            await done(client, (await sent(client, *files)).job.id)
            job = await done(client, (await reindexed(client)).id)
            assert (job.documents, job.files_done, job.files_total, job.passages) == ([], 5, 5, 5)
            assert len(await found(client, "page number")) == 5
            empty = await done(client, (await reindexed(client, "/v1/documents/reindex?index=other")).id)
            assert (empty.files_done, empty.files_total, empty.passages) == (0, 0, 0)
            assert await other.store.acount() == 0
            unknown = await client.post("/v1/documents/reindex?index=none")
            assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "unknown_index")

    asyncio.run(scene())


def test_a_job_that_broke_off_goes_on_behind_what_it_has_indexed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "FILES_AT_A_TIME", 1)

    async def scene() -> None:
        store = empty_index().store

        def service(embedder: BagOfWordsEmbedder) -> Any:
            return a_service(tmp_path, indexes={"docs": VectorStoreIndex(store, embed_model=embedder)})

        stopping = CountedEmbedder(3 + 2)
        async with in_process(service(stopping)) as client:
            files = [(f"{n}.md", f"This is page number {n}.".encode()) for n in range(3)]
            await done(client, (await sent(client, *files)).job.id)
            job = await reindexed(client)
            await asyncio.wait_for(stopping.held.wait(), 60)
        going_on = BagOfWordsEmbedder()
        async with in_process(service(going_on)) as client:
            assert (await ended(client, job.id)).state == "interrupted"
            await client.post(f"/v1/jobs/{job.id}/run")
            again = await done(client, job.id)
            assert (again.files_done, again.files_total, again.passages) == (3, 3, 1)
            assert len(going_on.texts) == 1
            assert len(await found(client, "page number")) == 3
            await done(client, (await reindexed(client)).id)
            assert len(going_on.texts) == 1 + 3

    asyncio.run(scene())


def test_for_another_model_an_index_in_a_new_directory_is_filled_with_what_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene() -> None:
        old, new = f"docs={tmp_path / 'old'}", f"docs={tmp_path / 'new'}"
        monkeypatch.setattr(Settings, "embed_model", BagOfWordsEmbedder(64))
        async with in_process(a_service(tmp_path / "data", index=old)) as client:
            await done(client, (await sent(client, ("facts.jsonl", facts(3)))).job.id)
        monkeypatch.setattr(Settings, "embed_model", BagOfWordsEmbedder(32, model_name="another"))
        async with in_process(a_service(tmp_path / "data", index=old)) as client:
            refused = (await client.post("/v1/search", json={"question": "number"})).json()["error"]
            assert refused["code"] == "embedding_mismatch"
            assert "/v1/documents/reindex" in refused["message"]
            job = await ended(client, (await reindexed(client)).id)
            assert job.error is not None
            assert (job.state, job.error.code) == ("failed", "embedding_mismatch")
        async with in_process(a_service(tmp_path / "data", index=new)) as client:
            job = await done(client, (await reindexed(client)).id)
            assert (job.files_done, job.passages) == (1, 3)
            reply = await client.post("/v1/search", json={"question": "What is number 2?"})
            assert reply.json()["hits"][0]["answer"] == "Number 2."

    asyncio.run(scene())
