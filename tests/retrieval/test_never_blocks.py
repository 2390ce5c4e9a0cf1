"""Asynchronous calls leave the loop free, and a cancelled one leaves no lock."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from tests.retrieval.support import LineSplitter, document, documents

from responsa.indices import VectorStoreIndex
from responsa.retrieval.stores.locking import held
from responsa.testing.embedder import BagOfWordsEmbedder


def test_no_asynchronous_call_of_an_index_on_disk_blocks_the_loop(tmp_path: Path) -> None:
    async def work() -> list[str]:
        model = BagOfWordsEmbedder(32)
        path = tmp_path / "index"
        await VectorStoreIndex.afrom_documents(
            documents(3), embed_model=model, transformations=[LineSplitter()], persist_dir=path
        )
        index = await VectorStoreIndex.aopen(path, embed_model=model, transformations=[LineSplitter()])
        await index.adelete("doc1")
        await index.ainsert(document(4))
        await index.ainsert(document(4, word="changed"))
        return [found.node_id for found in await index.as_retriever(3).aretrieve("changed document 4")]

    with blockbuster_ctx():
        assert set(asyncio.run(work())) == {"doc4/0", "doc4/1", "doc4/2"}


def test_a_call_cancelled_while_it_takes_the_lock_gives_it_back() -> None:
    begun, released = threading.Event(), threading.Event()
    holders: list[str] = []

    @contextmanager
    def slow_lock() -> Iterator[None]:
        begun.set()
        assert released.wait(60)
        holders.append("taken")
        try:
            yield
        finally:
            holders.append("given back")

    async def hold() -> None:
        async with held(slow_lock()):
            raise AssertionError("the call was cancelled before")

    async def work() -> None:
        call = asyncio.create_task(hold())
        await asyncio.to_thread(begun.wait, 60)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        released.set()
        while "given back" not in holders:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(work(), 60))
    assert holders == ["taken", "given back"]
