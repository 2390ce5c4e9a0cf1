"""Ingest without embedding: read files, cut them into passages and words, write.

    python benchmarks/ingest.py [--files 10000]

Asked for: at least 2,000 passages a CPU second, and no more than 600 MB of memory for 10,000 files. The index over
vectors, which is built after the last write, is measured apart: its building takes 3 to 5 KB of memory a passage.
"""

from __future__ import annotations

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from responsa.retrieval.stores.vectors import unit_vector

PARAGRAPHS = 8


class NoModel:
    """Gives vectors that were made beforehand."""

    model_name = "none"

    def __init__(self, dimensions: int = 384) -> None:
        chosen = random.Random(1)
        self._vectors = [unit_vector([chosen.gauss(0, 1) for _ in range(dimensions)]).tolist() for _ in range(1000)]
        self._next = cycle(self._vectors)

    def get_query_embedding(self, query: str) -> list[float]:
        return self._vectors[0]

    async def aget_query_embedding(self, query: str) -> list[float]:
        return self._vectors[0]

    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        return [next(self._next) for _ in texts]

    async def aget_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        return self.get_text_embedding_batch(texts)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--files", type=int, default=10_000)
    arguments.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.make is not None:
        make(chosen.make, chosen.files)
        return
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "files"
        # In a process of its own, so that its memory is not counted.
        command = [sys.executable, __file__, "--make", str(source), "--files", str(chosen.files)]
        subprocess.run(command, check=True)
        measure(source, Path(directory) / "index")


def make(directory: Path, count: int) -> None:
    """Write files of Markdown, half of them Chinese."""
    from corpus import load

    passages, _ = load(2000, 0)
    chosen = random.Random(1)
    for number in range(count):
        language = "zh" if number % 2 else "en"
        texts = [one.text for one in passages if one.language == language]
        title = f"文档 {number}" if language == "zh" else f"Document {number}"
        parts = [f"# {title}"]
        for place in range(PARAGRAPHS):
            if place % 3 == 0:
                parts.append(f"## {number}.{place}")
            parts.append(chosen.choice(texts))
        path = directory / language / f"{number // 100}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(parts), encoding="utf-8")


def measure(source: Path, target: Path) -> None:
    """Ingest all files twice and print what it took."""
    from responsa.indices import VectorStoreIndex
    from responsa.retrieval.progress import IngestProgress
    from responsa.retrieval.readers import SimpleDirectoryReader

    written, at_most = 0.0, 0.0

    def note(progress: IngestProgress) -> None:
        nonlocal written, at_most
        written, at_most = time.process_time(), memory()

    index = VectorStoreIndex.from_documents([], embed_model=NoModel(), persist_dir=target)
    before = memory()
    start = time.process_time()
    report = index.refresh(SimpleDirectoryReader(source, recursive=True).iter_data(), progress=note)
    done = time.process_time()
    row("documents", f"{report.inserted}")
    row("passages", f"{report.passages}")
    row("read, split, cut into words, write", f"{written - start:.1f} CPU s")
    row("passages a CPU second", f"{report.passages / (written - start):.0f}")
    row("memory before and at most", f"{before:.0f} MB, {at_most:.0f} MB")
    row("then, the index over vectors", f"{done - written:.1f} CPU s, {memory():.0f} MB at most")
    start = time.process_time()
    again = index.refresh(SimpleDirectoryReader(source, recursive=True).iter_data())
    row("the same files again", f"{time.process_time() - start:.1f} CPU s, {again.unchanged} unchanged")


def memory() -> float:
    """Return the most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(name: str, value: str) -> None:
    print(f"{name:<52}{value}", flush=True)


if __name__ == "__main__":
    main()
