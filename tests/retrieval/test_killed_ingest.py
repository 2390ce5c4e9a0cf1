"""An ingest that is killed in the middle, again and again, and then completes."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.retrieval.support import LineSplitter, documents

from responsa.indices import VectorStoreIndex
from responsa.testing.embedder import BagOfWordsEmbedder

N_DOCUMENTS, LINES = 60, 4

INGEST = f"""
import sys
from responsa.indices import VectorStoreIndex
from responsa.retrieval import ingest
from responsa.testing.embedder import BagOfWordsEmbedder
from tests.retrieval.support import LineSplitter, stream

def tell(progress):
    print(progress.documents_done, progress.unchanged, flush=True)

ingest.WRITE_SECONDS = 0.0  # as with a slow model
VectorStoreIndex.from_documents(
    stream({N_DOCUMENTS}, lines={LINES}), persist_dir=sys.argv[1], embed_model=BagOfWordsEmbedder(32),
    transformations=[LineSplitter()], batch_size=8, progress=tell,
)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_no_stored_document_is_lost_and_none_is_stored_twice(tmp_path: Path) -> None:
    path = tmp_path / "index"
    stored_before: set[str] = set()
    for batches_before_kill in (1, 3, 2):
        told = ingest_until_killed(path, batches_before_kill)
        index = VectorStoreIndex.open(path, embed_model=BagOfWordsEmbedder(32), transformations=[LineSplitter()])
        hashes = set(index.store.document_hashes())
        assert stored_before <= hashes
        assert {f"doc{number}" for number in range(told)} <= hashes
        assert passages_by_document(index) == dict.fromkeys(hashes, LINES)
        stored_before = hashes
    assert 0 < len(stored_before) < N_DOCUMENTS

    embedder = BagOfWordsEmbedder(32)
    index = VectorStoreIndex.open(path, embed_model=embedder, transformations=[LineSplitter()])
    report = index.refresh(documents(N_DOCUMENTS, lines=LINES))
    assert report.unchanged == len(stored_before)
    assert report.inserted == N_DOCUMENTS - len(stored_before)
    assert len(embedder.texts) == LINES * report.inserted
    assert passages_by_document(index) == {f"doc{number}": LINES for number in range(N_DOCUMENTS)}


def ingest_until_killed(path: Path, batches: int) -> int:
    """Run an ingest, kill it after some batches with new documents, and return how many documents it had told of."""
    command = [sys.executable, "-c", INGEST, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        done = 0
        for line in process.stdout:
            done, unchanged = map(int, line.split())
            batches -= done > unchanged
            if batches <= 0:
                break
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split("\n")
    return max([done, *(int(line.split()[0]) for line in rest if line.count(" ") == 1)])


def passages_by_document(index: VectorStoreIndex) -> dict[str, int]:
    found = index.as_retriever(10_000, vector_store_query_mode="text_search").retrieve("document passage")
    assert len({node.node_id for node in found}) == len(found) == index.store.count()
    return dict(Counter(str(node.node.ref_doc_id) for node in found))
