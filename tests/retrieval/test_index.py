import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.retrieval.support import FailingEmbedder, LineSplitter, document, documents, stream

from responsa.indices import VectorStoreIndex
from responsa.retrieval.progress import IngestProgress
from responsa.retrieval.stores import MemoryStore, Store, StoreMeta
from responsa.schema.errors import (
    EmbeddingFailed,
    EmbeddingMismatch,
    IndexLocked,
    InvalidOption,
    MissingPart,
    ServerUnreachable,
)
from responsa.schema.nodes import Document, TextNode
from responsa.testing.embedder import BagOfWordsEmbedder


@pytest.fixture
def embedder() -> BagOfWordsEmbedder:
    return BagOfWordsEmbedder(32)


@pytest.fixture(params=["memory", "disk"])
def options(request: pytest.FixtureRequest, tmp_path: Path, embedder: BagOfWordsEmbedder) -> dict[str, Any]:
    place = {} if request.param == "memory" else {"persist_dir": tmp_path / "index"}
    return {"embed_model": embedder, "transformations": [LineSplitter()], **place}


def make(documents: Any, options: dict[str, Any], *, asynchronous: bool = False, **more: Any) -> VectorStoreIndex:
    if asynchronous:
        return asyncio.run(VectorStoreIndex.afrom_documents(documents, **options, **more))
    return VectorStoreIndex.from_documents(documents, **options, **more)


def refresh(index: VectorStoreIndex, documents: Any, *, asynchronous: bool, **more: Any) -> Any:
    if asynchronous:
        return asyncio.run(index.arefresh(documents, **more))
    return index.refresh(documents, **more)


both = pytest.mark.parametrize("asynchronous", [False, True])


@pytest.fixture
def slow_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if every batch took its model longer than writes are put off."""
    monkeypatch.setattr("responsa.retrieval.ingest.WRITE_SECONDS", 0.0)


@both
def test_documents_are_found_by_their_words_and_vectors(options: dict[str, Any], asynchronous: bool) -> None:
    index = make(documents(5), options, asynchronous=asynchronous)
    assert index.store.count() == 15
    for question in ("document 3", "第3页"):
        found = index.as_retriever(1).retrieve(question)
        assert found[0].node.ref_doc_id == "doc3"
        assert found[0].metadata == {"number": 3}


@both
def test_unchanged_documents_cost_no_embedding_and_changed_ones_replace_theirs(
    options: dict[str, Any], embedder: BagOfWordsEmbedder, asynchronous: bool
) -> None:
    index = make(documents(4), options)
    embedder.texts.clear()
    changed = [document(0), document(1, word="changed"), document(2, lines=1), document(9)]
    report = refresh(index, changed, asynchronous=asynchronous)
    assert (report.inserted, report.replaced, report.unchanged, report.passages) == (1, 2, 1, 7)
    assert len(embedder.texts) == 7
    assert index.store.count() == 3 + 3 + 1 + 3 + 3
    assert index.as_retriever(9, vector_store_query_mode="text_search").retrieve("changed")[0].node.ref_doc_id == "doc1"


class LookingEmbedder(BagOfWordsEmbedder):
    """Notes what is stored whenever it embeds."""

    store: Store
    seen: list[int]

    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen.append(self.store.count())
        return super().get_text_embedding_batch(texts)


@both
@pytest.mark.usefixtures("slow_model")
def test_by_force_unchanged_documents_are_made_anew_and_found_meanwhile(
    options: dict[str, Any], asynchronous: bool
) -> None:
    made = make(documents(4), options)
    looking = LookingEmbedder(32)
    looking.store, looking.seen = made.store, []
    index = VectorStoreIndex(made.store, embed_model=looking, transformations=[LineSplitter()], batch_size=3)
    told: list[IngestProgress] = []
    report = refresh(index, [*documents(4), document(9)], asynchronous=asynchronous, force=True, progress=told.append)
    assert (report.inserted, report.replaced, report.unchanged, report.passages) == (1, 4, 0, 15)
    assert looking.seen == [12] * 5
    assert [now.documents_done for now in told] == [1, 2, 3, 4, 5]
    assert index.store.count() == 15


def test_a_document_that_comes_twice_in_one_ingest_is_stored_once(options: dict[str, Any]) -> None:
    index = make([document(1), document(2), document(1), document(2, word="later")], options)
    assert index.store.count() == 6
    assert len(index.as_retriever(9, vector_store_query_mode="text_search").retrieve("later")) == 3


def test_insert_and_delete_change_one_document(options: dict[str, Any], embedder: BagOfWordsEmbedder) -> None:
    index = make(documents(2), options)
    index.insert(document(7))
    assert index.insert(document(7)).unchanged == 1
    assert len(embedder.texts) == 9
    assert index.delete("doc0") == 3
    assert index.delete_ref_doc("doc0") == 0
    assert set(index.store.document_hashes()) == {"doc1", "doc7"}

    async def change() -> int:
        await index.ainsert(document(8))
        return await index.adelete("doc7") + await index.adelete_ref_doc("doc7")

    assert asyncio.run(change()) == 3
    assert set(index.store.document_hashes()) == {"doc1", "doc8"}


def test_ready_passages_are_stored_and_deleted_by_identity(options: dict[str, Any]) -> None:
    index = make([], options, batch_size=2)
    nodes = [TextNode(f"violet {number}", id_=f"n{number}") for number in range(5)]
    index.insert_nodes(nodes)
    asyncio.run(index.ainsert_nodes([TextNode("grey", id_="n0")]))
    assert index.store.get_nodes(["n0", "n4"]) == [TextNode("grey", id_="n0"), nodes[4]]
    assert index.delete_nodes(["n0", "n1", "no"]) == 2
    assert asyncio.run(index.adelete_nodes(["n2"])) == 1
    assert index.store.count() == 2


def test_a_document_without_text_is_reported_and_leaves_nothing(options: dict[str, Any]) -> None:
    index = make(documents(2), options)
    report = index.refresh([Document("", id_="doc0"), Document("", id_="new"), document(1)])
    assert (report.empty, report.unchanged, report.passages) == (("doc0", "new"), 1, 0)
    assert set(index.store.document_hashes()) == {"doc1"}


@both
@pytest.mark.usefixtures("slow_model")
def test_progress_tells_what_is_stored_and_reaches_the_total(options: dict[str, Any], asynchronous: bool) -> None:
    told: list[IngestProgress] = []
    stored: list[int] = []
    index = make([], options, batch_size=4)

    def progress(now: IngestProgress) -> None:
        told.append(now)
        stored.append(index.store.count())

    refresh(index, stream(6), asynchronous=asynchronous, total=6, progress=progress)
    assert [now.passages for now in told] == stored
    written = [now for now in told if now.embedded == now.passages]
    assert [now.documents_done for now in written] == [2, 4, 6]
    assert {now.documents_total for now in told} == {6}
    assert written[0].seconds_left is not None
    assert told[-1].seconds_left == 0.0


@both
@pytest.mark.usefixtures("slow_model")
def test_progress_moves_within_a_document_that_is_stored_as_a_whole(
    options: dict[str, Any], asynchronous: bool
) -> None:
    told: list[IngestProgress] = []
    stored: list[int] = []
    index = make([], options, batch_size=4)

    def progress(now: IngestProgress) -> None:
        told.append(now)
        stored.append(index.store.count())

    refresh(index, [document(1, lines=10), document(2, lines=1)], asynchronous=asynchronous, progress=progress)
    assert [(now.embedded, now.passages, now.documents_done) for now in told] == [
        (4, 0, 0),
        (8, 0, 0),
        (10, 10, 1),
        (11, 11, 2),
    ]
    assert stored == [now.passages for now in told]


@both
def test_batches_of_a_fast_model_are_written_together(
    options: dict[str, Any], asynchronous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("responsa.retrieval.ingest.WRITE_SECONDS", float("inf"))
    monkeypatch.setattr("responsa.retrieval.ingest.WRITE_PASSAGES", 12)
    told: list[IngestProgress] = []
    index = make([], options, batch_size=3)
    refresh(index, stream(10), asynchronous=asynchronous, progress=told.append)
    assert [now.passages for now in told] == [12, 24, 30]
    assert index.store.count() == 30


def test_a_document_that_comes_twice_is_stored_as_it_came_last(options: dict[str, Any]) -> None:
    report = make([], options, batch_size=3).refresh([document(1), document(2), Document("changed", id_="doc1")])
    assert (report.inserted, report.replaced, report.passages) == (2, 1, 7)


def test_show_progress_writes_to_standard_error(options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    make(documents(2), options, show_progress=True)
    assert "2/2 documents, 6 passages" in capsys.readouterr().err


@both
@pytest.mark.usefixtures("slow_model")
def test_an_ingest_holds_no_more_than_a_batch_of_an_endless_source(options: dict[str, Any], asynchronous: bool) -> None:
    index = make([], options, batch_size=6)
    taken: list[int] = []
    ahead: list[int] = []

    def source() -> Iterator[Document]:
        for number in range(40):
            taken.append(number)
            ahead.append(len(taken) - index.store.count() // 3)
            yield document(number)

    refresh(index, source(), asynchronous=asynchronous)
    assert max(ahead) <= 2
    assert index.store.count() == 120


@both
@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError("broken"), EmbeddingFailed),
        (ServerUnreachable("http://localhost:1", "refused"), ServerUnreachable),
    ],
)
@pytest.mark.usefixtures("slow_model")
def test_a_failing_model_stops_the_ingest_and_keeps_what_was_stored(
    tmp_path: Path, asynchronous: bool, raised: Exception, expected: type[Exception]
) -> None:
    options = {"transformations": [LineSplitter()], "persist_dir": tmp_path / "index", "batch_size": 3}
    with pytest.raises(expected):
        make(documents(5), {**options, "embed_model": FailingEmbedder("document 3", raised)}, asynchronous=asynchronous)
    embedder = BagOfWordsEmbedder(32)
    index = VectorStoreIndex.open(tmp_path / "index", embed_model=embedder, transformations=[LineSplitter()])
    assert set(index.store.document_hashes()) == {"doc0", "doc1", "doc2"}
    report = index.refresh(documents(5))
    assert (report.unchanged, report.inserted) == (3, 2)
    assert len(embedder.texts) == 6


class Wrong(BagOfWordsEmbedder):
    def __init__(self, vectors: Any) -> None:
        super().__init__(32)
        self.vectors = vectors

    def get_text_embedding_batch(self, texts: Any) -> Any:
        return self.vectors


@pytest.mark.parametrize(
    ("vectors", "error"),
    [
        ([], EmbeddingFailed),
        ([[0.1] * 32] * 4, EmbeddingFailed),
        ([[0.1] * 31] * 3, EmbeddingMismatch),
        ([[float("nan")] * 32] * 3, EmbeddingFailed),
        ([[float("inf")] * 32] * 3, EmbeddingFailed),
        ([[None] * 32] * 3, EmbeddingFailed),
    ],
)
def test_vectors_that_are_none_are_refused(options: dict[str, Any], vectors: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make(documents(1), {**options, "embed_model": Wrong(vectors)})


def test_opening_embeds_nothing_and_keeps_model_and_dimensions(tmp_path: Path, embedder: BagOfWordsEmbedder) -> None:
    make(documents(2), {"embed_model": embedder, "transformations": [LineSplitter()], "persist_dir": tmp_path})
    fresh = BagOfWordsEmbedder(32)
    index = VectorStoreIndex.open(tmp_path, embed_model=fresh)
    assert asyncio.run(VectorStoreIndex.aopen(tmp_path, embed_model=fresh)).store.count() == 6
    assert (fresh.texts, fresh.queries) == ([], [])
    assert index.store.meta == StoreMeta("bag-of-words", 32)


def test_another_model_is_refused_with_the_way_out(options: dict[str, Any]) -> None:
    index = make(documents(1), options)
    with pytest.raises(EmbeddingMismatch, match="rebuild") as refused:
        VectorStoreIndex(index.store, embed_model=BagOfWordsEmbedder(32, model_name="other"))
    assert (refused.value.index_model, refused.value.given_model) == ("bag-of-words", "other")


def test_a_model_of_that_name_with_other_dimensions_is_refused_when_it_first_embeds(options: dict[str, Any]) -> None:
    index = VectorStoreIndex(make(documents(1), options).store, embed_model=BagOfWordsEmbedder(16))
    with pytest.raises(EmbeddingMismatch) as refused:
        index.as_retriever().retrieve("document")
    assert (refused.value.index_dimensions, refused.value.given_dimensions) == (32, 16)


def test_without_a_model_only_words_are_searched(options: dict[str, Any]) -> None:
    index = VectorStoreIndex(make(documents(2), options).store)
    assert index.as_retriever(1, vector_store_query_mode="text_search").retrieve("第1页")[0].node.ref_doc_id == "doc1"
    for mode in ("hybrid", "default"):
        with pytest.raises(MissingPart, match="bag-of-words"):
            index.as_retriever(vector_store_query_mode=mode).retrieve("第1页")
    with pytest.raises(MissingPart):
        index.insert(document(5))


@both
def test_a_second_writer_is_refused_after_its_time_and_readers_are_not(
    options: dict[str, Any], asynchronous: bool
) -> None:
    index = make(documents(1), options, lock_timeout=0.1)
    with index.store.lock():
        with pytest.raises(IndexLocked):
            refresh(index, documents(2), asynchronous=asynchronous)
        assert index.as_retriever(1).retrieve("document 0")
    assert refresh(index, documents(2), asynchronous=asynchronous).inserted == 1


def test_writers_in_one_process_wait_for_each_other(options: dict[str, Any]) -> None:
    index = make([], options, lock_timeout=60)

    async def together() -> None:
        await asyncio.gather(*(index.ainsert(document(number)) for number in range(5)))

    asyncio.run(together())
    assert index.store.count() == 15


def test_transformations_run_in_order(options: dict[str, Any]) -> None:
    def shout(nodes: list[TextNode]) -> list[TextNode]:
        return [TextNode(node.text + " loudly", id_=node.id_) for node in nodes]

    index = make(documents(1, lines=2), {**options, "transformations": [LineSplitter(), shout]})
    found = index.as_retriever(9, vector_store_query_mode="text_search").retrieve("loudly")
    assert [(node.node_id, node.node.ref_doc_id) for node in found] == [("doc0/0", "doc0"), ("doc0/1", "doc0")]
    shouted_first = VectorStoreIndex.from_documents(
        documents(1, lines=2), embed_model=options["embed_model"], transformations=[shout, LineSplitter()]
    )
    found = shouted_first.as_retriever(9, vector_store_query_mode="text_search").retrieve("loudly")
    assert [(node.node_id, node.node.ref_doc_id) for node in found] == [("doc0/1", "doc0")]


@pytest.mark.parametrize(
    "wrong", [{"similarity_top_k": 0}, {"similarity_top_k": True}, {"vector_store_query_mode": "sparse"}]
)
def test_a_retriever_refuses_what_it_does_not_know(wrong: dict[str, Any], embedder: BagOfWordsEmbedder) -> None:
    index = VectorStoreIndex(MemoryStore(StoreMeta("bag-of-words", 32)), embed_model=embedder)
    with pytest.raises(InvalidOption):
        index.as_retriever(**wrong)
    with pytest.raises(InvalidOption):
        VectorStoreIndex(index.store, batch_size=0)
