import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from responsa.indices import VectorStoreIndex
from responsa.retrieval.fusion import Match, RetrievedNode
from responsa.retrieval.retrievers import BM25Retriever, HybridRetriever, QueryFusionRetriever, VectorIndexRetriever
from responsa.retrieval.stores import LanceStore, MemoryStore, Store, StoreMeta
from responsa.schema.errors import EmbeddingFailed, EmbeddingMismatch, InvalidOption, RetrievalFailed
from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import Document, NodeWithScore, QueryBundle, TextNode
from responsa.schema.protocols import Retriever
from responsa.testing.embedder import BagOfWordsEmbedder

TEXTS = {
    "opening": "The Harbor Library opens at 11 a.m. on Saturdays.",
    "loans": "A member can borrow up to eight books at the library.",
    "pump": "Use ISO VG 46 oil in the X200 pump.",
    "opening-zh": "海港图书馆周六上午11点开门。",
    "pump-zh": "X200型水泵使用ISO VG 46号润滑油。",
}


@pytest.fixture(params=["memory", "disk"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    meta = StoreMeta("bag-of-words", 64)
    store: Store = MemoryStore(meta) if request.param == "memory" else LanceStore.create(tmp_path / "index", meta)
    documents = [
        Document(text, id_=name, metadata={"lang": "zh" if name.endswith("zh") else "en"})
        for name, text in TEXTS.items()
    ]
    for document in documents:
        document.excluded_embed_metadata_keys.append("lang")
    VectorStoreIndex(store, embed_model=BagOfWordsEmbedder(), transformations=[]).refresh(documents)
    yield store
    store.close()


def ids(found: list[NodeWithScore]) -> list[str]:
    return [one.node_id for one in found]


def retrieve(retriever: Retriever, query: Any) -> list[NodeWithScore]:
    """Search in both ways, which must agree."""
    found = retriever.retrieve(query)
    assert asyncio.run(retriever.aretrieve(query)) == found
    return found


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When does the harbor library open on Saturdays?", "opening"),
        ("How many books may a member borrow?", "loans"),
        ("图书馆周六几点开门？", "opening-zh"),
        ("水泵的润滑油", "pump-zh"),
        ("x200 PUMP", "pump"),
    ],
)
def test_every_kind_of_search_finds_the_passage(store: Store, question: str, expected: str) -> None:
    model = BagOfWordsEmbedder()
    hybrid = HybridRetriever(store, model, similarity_top_k=1)
    for retriever in (hybrid, VectorIndexRetriever(store, model), BM25Retriever(store)):
        assert ids(retrieve(retriever, question))[0] == expected


def test_a_hybrid_result_carries_what_both_searches_measured(store: Store) -> None:
    found = retrieve(HybridRetriever(store, BagOfWordsEmbedder(), similarity_top_k=5), "library")
    dense = {one.node_id: one.score for one in VectorIndexRetriever(store, BagOfWordsEmbedder()).retrieve("library")}
    assert set(ids(found)) == set(TEXTS)
    for one in found:
        assert isinstance(one, RetrievedNode)
        assert one.similarity == pytest.approx(dense[one.node_id], abs=1e-6)
        assert one.matches["dense"].score == one.similarity
        assert ("keyword" in one.matches) == (one.node_id in {"opening", "loans"})
    assert [one.get_score() for one in found] == sorted((one.get_score() for one in found), reverse=True)


def test_a_passage_that_only_words_found_has_its_similarity_too(store: Store) -> None:
    retriever = HybridRetriever(store, BagOfWordsEmbedder(), similarity_top_k=3, candidates=1)
    query = QueryBundle("pump", custom_embedding_strs=("海港图书馆",))
    found = {one.node_id: one for one in retrieve(retriever, query)}
    assert set(found) == {"opening-zh", "pump"}
    only_words = found["pump"]
    assert isinstance(only_words, RetrievedNode)
    assert set(only_words.matches) == {"keyword"}
    assert only_words.similarity == pytest.approx(
        store.similarities(VectorIndexRetriever(store, BagOfWordsEmbedder()).query_vector(query), ["pump"])["pump"]
    )


def test_filters_hold_for_both_searches(store: Store) -> None:
    filters = MetadataFilters.from_dict({"lang": "zh"})
    model = BagOfWordsEmbedder()
    for retriever in (
        HybridRetriever(store, model, filters=filters),
        VectorIndexRetriever(store, model, filters=filters),
        BM25Retriever(store, filters=filters),
    ):
        assert set(ids(retrieve(retriever, "library pump ISO 图书馆"))) == {"opening-zh", "pump-zh"}


def test_a_weight_of_nothing_leaves_the_order_to_the_other_search(store: Store) -> None:
    model = BagOfWordsEmbedder()
    words_only = HybridRetriever(store, model, dense_weight=0.0, similarity_top_k=2)
    assert ids(retrieve(words_only, "ISO VG 46 oil")) == ids(
        BM25Retriever(store, similarity_top_k=2).retrieve("ISO VG 46 oil")
    )
    for wrong in ({"keyword_weight": -1.0}, {"dense_weight": float("nan")}, {"candidates": 0}):
        with pytest.raises(InvalidOption):
            HybridRetriever(store, model, **wrong)  # type: ignore[arg-type]


def test_a_query_may_bring_its_vector_or_other_texts_to_embed(store: Store) -> None:
    model = BagOfWordsEmbedder()
    retriever = VectorIndexRetriever(store, model, similarity_top_k=1)
    ready = QueryBundle(
        "anything", embedding=tuple(3 * number for number in model.get_query_embedding("x200 oil pump"))
    )
    model.queries.clear()
    assert ids(retrieve(retriever, ready)) == ["pump"]
    assert model.queries == []
    [found] = retriever.retrieve(ready)
    assert found.get_score() <= 1.0 + 1e-6
    assert ids(retrieve(retriever, QueryBundle("anything", ("borrow books", "member")))) == ["loans"]
    assert set(model.queries) == {"borrow books", "member"}


def test_a_vector_of_another_size_is_refused(store: Store) -> None:
    with pytest.raises(EmbeddingMismatch):
        VectorIndexRetriever(store, None).retrieve(QueryBundle("x", embedding=(1.0, 2.0)))


class BrokenModel(BagOfWordsEmbedder):
    def get_query_embedding(self, query: str) -> list[float]:
        raise KeyError("weights")


def test_a_model_that_breaks_is_a_typed_error_in_both_ways(store: Store) -> None:
    retriever = HybridRetriever(store, BrokenModel())
    with pytest.raises(EmbeddingFailed, match="weights"):
        retriever.retrieve("oil")
    with pytest.raises(EmbeddingFailed, match="weights"):
        asyncio.run(retriever.aretrieve("oil"))


class Fixed:
    """Finds the same passages whatever is asked."""

    def __init__(self, *found: str) -> None:
        self.found = found

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(TextNode(one, id_=one), 1.0) for one in self.found]

    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        await asyncio.sleep(0)
        return self.retrieve(query)


class Failing(Fixed):
    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
        raise RetrievalFailed("gone")


def test_several_retrievers_are_merged_by_reciprocal_rank() -> None:
    retriever = QueryFusionRetriever([Fixed("a", "b"), Fixed("c", "b")], similarity_top_k=2)
    found = retrieve(retriever, "question")
    assert ids(found) == ["b", "a"]
    assert isinstance(found[0], RetrievedNode)
    assert found[0].matches == {"1": Match(2, 1.0), "2": Match(2, 1.0)}
    weighted = QueryFusionRetriever([Fixed("a", "b"), Fixed("c", "b")], retriever_weights=[0.1, 1.0])
    assert ids(retrieve(weighted, "question")) == ["b", "c", "a"]


def test_a_failing_retriever_among_several_fails_the_search_and_ends_the_others() -> None:
    ended: list[str] = []

    class Waiting(Fixed):
        async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("waiting")
            return []

    with pytest.raises(RetrievalFailed, match="gone"):
        asyncio.run(QueryFusionRetriever([Waiting(), Failing()]).aretrieve("question"))
    assert ended == ["waiting"]
    with pytest.raises(RetrievalFailed, match="gone"):
        QueryFusionRetriever([Fixed(), Failing()]).retrieve("question")


@pytest.mark.parametrize(
    ("retrievers", "options"),
    [
        ([], {}),
        ([Fixed()], {"mode": "simple"}),
        ([Fixed()], {"num_queries": 4}),
        ([Fixed()], {"retriever_weights": [1.0, 2.0]}),
        ([Fixed()], {"similarity_top_k": 0}),
    ],
)
def test_options_that_mean_nothing_are_refused(retrievers: list[Retriever], options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption):
        QueryFusionRetriever(retrievers, **options)
