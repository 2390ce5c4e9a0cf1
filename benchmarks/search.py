"""Hybrid search over many passages, half of them Chinese: how long it takes, and what it finds.

    python benchmarks/search.py [--passages 100000]

Asked for: hybrid p50 at most 20 ms, dense recall@10 at least 0.95 of comparing every vector, the answering passage
among the first ten by words for at least 0.95 of the questions in both languages. A question's vector is given: what
embedding it costs is the model's affair.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import tempfile
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from corpus import Passage, Question, load, near, vectors

from responsa.retrieval.retrievers import BM25Retriever, HybridRetriever, VectorIndexRetriever
from responsa.retrieval.stores import LanceStore, StoredDocument, StoreMeta
from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import QueryBundle, TextNode

DIMENSIONS = 384
A_DOCUMENT = 10
A_WRITE = 100


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--passages", type=int, default=100_000)
    arguments.add_argument("--questions", type=int, default=200, help="in each language")
    chosen = arguments.parse_args()
    passages, questions = load(chosen.passages, chosen.questions)
    stored = vectors(len(passages), DIMENSIONS)
    with tempfile.TemporaryDirectory() as directory:
        store = LanceStore.create(Path(directory) / "index", StoreMeta("synthetic", DIMENSIONS))
        fill(store, passages, stored)
        size = sum(path.stat().st_size for path in Path(directory).rglob("*") if path.is_file())
        row("index on disk", f"{size / 1e6:.0f} MB")
        measure_keywords(store, questions)
        measure_recall(store, passages, stored)
        measure_time(store, questions, stored)
        store.close()
    row("largest memory of the process", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def row(name: str, value: str) -> None:
    print(f"{name:<52}{value}", flush=True)


def fill(store: LanceStore, passages: Sequence[Passage], stored: Any) -> None:
    documents = []
    for start in range(0, len(passages), A_DOCUMENT):
        part = passages[start : start + A_DOCUMENT]
        doc_id = f"document-{start // A_DOCUMENT}"
        nodes = [
            TextNode(
                one.text,
                id_=one.id,
                ref_doc_id=doc_id,
                metadata={"language": one.language, "file_path": f"/corpus/{doc_id}.md", "number": start},
                excluded_embed_metadata_keys=["language", "file_path", "number"],
            )
            for one in part
        ]
        rows = [array("f", vector.tobytes()) for vector in stored[start : start + A_DOCUMENT]]
        documents.append(StoredDocument(doc_id, "hash", nodes, rows))
    seconds = time.process_time()
    with store.lock():
        for start in range(0, len(documents), A_WRITE):
            store.replace_documents(documents[start : start + A_WRITE])
        seconds = time.process_time() - seconds
        row("write and cut into words", f"{seconds:.1f} CPU s, {len(passages) / seconds:.0f} passages a CPU s")
        seconds, wall = time.process_time(), time.monotonic()
        store.optimize()
    row("build both indexes", f"{time.process_time() - seconds:.1f} CPU s, {time.monotonic() - wall:.1f} s")


def measure_keywords(store: LanceStore, questions: Sequence[Question]) -> None:
    retriever = BM25Retriever(store, similarity_top_k=10)
    for language in ("en", "zh"):
        asked = [one for one in questions if one.language == language]
        hits = sum(one.passage in {found.node_id for found in retriever.retrieve(one.text)} for one in asked)
        row(f"keyword hit@10, {language}, {len(asked)} real questions", f"{hits / len(asked):.3f}")


def measure_recall(store: LanceStore, passages: Sequence[Passage], stored: Any) -> None:
    asked = near(stored, 200)
    exact = np.argsort(-(asked @ stored.T), axis=1)[:, :10]
    hits = 0
    for vector, best in zip(asked, exact, strict=True):
        found = {node.node_id for node in store.dense_search(vector.tolist(), 10)}
        hits += len(found & {passages[place].id for place in best})
    row("dense recall@10 of comparing all, 200 questions", f"{hits / 2000:.3f}")


def measure_time(store: LanceStore, questions: Sequence[Question], stored: Any) -> None:
    asked = [
        QueryBundle(one.text, embedding=tuple(vector.tolist()))
        for one, vector in zip(questions, near(stored, len(questions), seed=3), strict=True)
    ]
    chinese = MetadataFilters.from_dict({"language": "zh"})
    one_file = MetadataFilters.from_dict({"file_path": "/corpus/document-77.md"})
    searches: dict[str, Any] = {
        "hybrid": HybridRetriever(store, None),
        "hybrid, half of the passages by a filter": HybridRetriever(store, None, filters=chinese),
        "hybrid, one file by a filter": HybridRetriever(store, None, filters=one_file),
        "dense": VectorIndexRetriever(store, None),
        "keyword": BM25Retriever(store),
    }
    for name, retriever in searches.items():
        timed(name, retriever.retrieve, asked)
    asyncio.run(timed_on_a_loop("hybrid, asynchronous", searches["hybrid"].aretrieve, asked))


def timed(name: str, search: Callable[[QueryBundle], Any], asked: Sequence[QueryBundle]) -> None:
    for query in asked[:20]:
        search(query)
    walls, seconds = [], time.process_time()
    for query in asked:
        start = time.perf_counter()
        search(query)
        walls.append(time.perf_counter() - start)
    report(name, walls, time.process_time() - seconds)


async def timed_on_a_loop(name: str, search: Callable[[QueryBundle], Any], asked: Sequence[QueryBundle]) -> None:
    for query in asked[:20]:
        await search(query)
    walls, seconds = [], time.process_time()
    for query in asked:
        start = time.perf_counter()
        await search(query)
        walls.append(time.perf_counter() - start)
    report(name, walls, time.process_time() - seconds)


def report(name: str, walls: list[float], seconds: float) -> None:
    p50, p95 = statistics.median(walls), sorted(walls)[int(0.95 * len(walls))]
    row(name, f"p50 {p50 * 1e3:.1f} ms, p95 {p95 * 1e3:.1f} ms, {seconds / len(walls) * 1e3:.1f} CPU ms")


if __name__ == "__main__":
    main()
