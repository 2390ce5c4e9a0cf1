"""Faults of another answer service's search; see `test_known_faults.py`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.server.library import a_library, done
from tests.server.support import QUESTION, a_service, in_process, parsed

from responsa.indices import VectorStoreIndex
from responsa.schema.nodes import Document
from responsa.testing import ScriptedLLM
from responsa.testing.embedder import BagOfWordsEmbedder


def run(scene: Callable[[], Any]) -> None:
    asyncio.run(scene())


class HeldEmbedder(BagOfWordsEmbedder):
    """May be held up."""

    def __init__(self) -> None:
        super().__init__()
        self.gate: threading.Event | None = None
        self.begun = threading.Event()

    async def aget_query_embedding(self, query: str) -> list[float]:
        self.begun.set()
        if self.gate is not None:
            await asyncio.to_thread(self.gate.wait, 60)
        return await super().aget_query_embedding(query)


def index_with(embedder: BagOfWordsEmbedder, texts: Sequence[str]) -> VectorStoreIndex:
    return VectorStoreIndex.from_documents([Document(text) for text in texts], embed_model=embedder)


@pytest.mark.parametrize("mode", ["compact", "refine", "tree_summarize"])
def test_one_question_is_embedded_once_and_answered_from_the_hits_that_are_shown(tmp_path: Path, mode: str) -> None:
    async def scene() -> None:
        embedder, llm = BagOfWordsEmbedder(), ScriptedLLM("Oil [1].")
        index = index_with(embedder, [f"The pump number {n} needs oil." for n in range(20)])
        embedder.queries.clear()
        async with in_process(a_service(tmp_path, llm, indexes={"docs": index})) as client:
            body = {"question": "Which oil?", "mode": mode, "stream": True, "include_prompts": True}
            events = parsed((await client.post("/v1/answer", json=body)).text)
        assert embedder.queries == ["Which oil?"]
        [shown] = [event.data["hits"] for event in events if event.name == "sources"]
        assert len(shown) == 8
        prompts = " ".join(message.content for prompt in llm.prompts for message in prompt)
        assert all(hit["text"] in prompts for hit in shown)
        assert not any(hit["text"] in prompts for hit in events[-1].data["related"])

    run(scene)


def test_nobody_waits_for_another_ones_search(tmp_path: Path) -> None:
    async def scene() -> None:
        embedder = HeldEmbedder()
        embedder.gate = threading.Event()
        service = a_service(tmp_path, indexes={"docs": index_with(embedder, ["The pump needs oil."])})
        async with in_process(service) as client:
            slow = asyncio.ensure_future(client.post("/v1/search", json={"question": "Which oil?"}))
            await asyncio.to_thread(embedder.begun.wait, 60)
            assert (await client.get("/healthz")).status_code == 200
            given = await client.post("/v1/answer", json=QUESTION)
            assert given.json()["outcome"] == "answered"
            assert not slow.done()
            embedder.gate.set()
            assert (await slow).status_code == 200

    run(scene)


class Blind(BagOfWordsEmbedder):
    """Finds a passage the further, the later it came, whatever is asked."""

    def _vector(self, text: str) -> list[float]:
        place = int(text.partition(" ")[0]) if text[0].isdigit() else 0
        return [1.0, place / 100, *[0.0] * 62]


def test_what_words_alone_find_is_among_the_hits(tmp_path: Path) -> None:
    async def scene() -> None:
        words = {8: "Error ERR-4711 once more.", 9: "Cure of ERR-4711.", 10: "What ERR-4711 means."}
        index = index_with(Blind(), [f"{n:02d} {words.get(n, 'The pump is red.')}" for n in range(11)])
        async with in_process(a_service(tmp_path, indexes={"docs": index})) as client:
            found = (await client.post("/v1/search", json={"question": "ERR-4711", "top_k": 8})).json()["hits"]
        assert {8, 9, 10} <= {int(hit["text"][:2]) for hit in found}
        assert len(found) == 8

    run(scene)


def test_entries_of_one_group_do_not_hide_one_another(tmp_path: Path) -> None:
    async def scene() -> None:
        group = {"title": "Thread 7", "url": "https://forum.example/7", "summary": "About oil."}
        entries = [{**group, "question": f"Which oil for pump {n}?", "answer": f"VG {n}."} for n in range(6)]
        async with in_process(a_library(tmp_path)) as client:
            sent = await client.post("/v1/entries", json={"name": "forum", "entries": entries})
            await done(client, sent.json()["job"]["id"])
            found = (await client.post("/v1/search", json={"question": "Which oil?"})).json()["hits"]
        assert {hit["answer"] for hit in found} >= {f"VG {n}." for n in range(6)}

    run(scene)
