"""The store on disk answers every query as the exact one in memory does."""

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from responsa.retrieval.stores import LanceStore, MemoryStore, Store, StoreMeta
from responsa.schema.filters import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from responsa.schema.nodes import NodeWithScore
from responsa.testing.store_contract import EMBEDDER, document, vector_of

META = StoreMeta("bag-of-words", EMBEDDER.dimensions)
ENGLISH = [
    "library",
    "pump",
    "valve",
    "oil",
    "pressure",
    "temperature",
    "alarm",
    "member",
    "book",
    "Saturday",
    "index",
    "vector",
    "search",
    "token",
    "server",
    "model",
    "window",
    "answer",
    "passage",
    "document",
    "reference",
    "max_tokens",
    "v1.2",
    "ISO-8601",
    "the",
    "of",
    "and",
    "opens",
    "borrowing",
    "running",
]
CHINESE = [
    "图书馆",
    "水泵",
    "阀门",
    "润滑油",
    "压力",
    "温度",
    "报警灯",
    "会员",
    "借书",
    "周六",
    "索引",
    "向量",
    "检索",
    "词元",
    "服务器",
    "模型",
    "窗口",
    "回答",
    "段落",
    "文档",
    "的",
    "和",
    "在",
]
VALUES: list[Any] = [
    "a",
    "b",
    "ab",
    "",
    "'",
    "10",
    10,
    10.0,
    9.5,
    -1,
    0,
    -0.0,
    True,
    False,
    ["a", 10],
    [],
    None,
    "图书馆",
]
KEYS = ["k", "n", "k'", "$.k", "键"]


def corpus(count: int) -> list[Any]:
    chosen = random.Random(5)

    def sentence() -> str:
        english = " ".join(chosen.choices(ENGLISH, k=chosen.randint(3, 12)))
        chinese = "".join(chosen.choices(CHINESE, k=chosen.randint(3, 12)))
        return chosen.choice([english, chinese, f"{english}。{chinese}"])

    return [
        document(
            f"d{number}",
            *(sentence() for _ in range(chosen.randint(1, 5))),
            **{key: chosen.choice(VALUES) for key in KEYS if chosen.random() < 0.7},
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    memory, disk = MemoryStore(META), LanceStore.create(tmp_path_factory.mktemp("congruence") / "index", META)
    for store in (memory, disk):
        documents = corpus(150)
        for start in range(0, len(documents), 40):
            store.replace_documents(documents[start : start + 40])
        store.delete_documents(["d3", "d77"])
        store.replace_documents([document("d5", "max_tokens of the server 词元窗口"), document("d6")])
        store.optimize()
    yield memory, disk
    disk.close()


def _runs_of_equals(scores: list[float]) -> list[int]:
    """Lengths of the runs of scores that 32-bit floats may tell apart in another order."""
    starts = [at for at in range(len(scores)) if at == 0 or scores[at - 1] - scores[at] > 1e-4]
    return [end - start for start, end in pairwise([*starts, len(scores)])]


def same(one: list[NodeWithScore], other: list[NodeWithScore], top_k: int) -> None:
    """Equal passages with equal scores in equal order; of those that score as the last one does, any may be there."""
    assert [node.score for node in one] == pytest.approx([node.score for node in other], abs=2e-5)
    last = one[-1].get_score() if len(one) == top_k else -10.0
    certain = [node for node in one if node.get_score() > last + 1e-4]
    place = 0
    for size in _runs_of_equals([node.get_score() for node in certain]):
        pair = [sorted(map(repr, map(_shown, nodes[place : place + size]))) for nodes in (certain, other)]
        assert pair[0] == pair[1]
        place += size


def _shown(node: NodeWithScore) -> Any:
    return (node.node_id, node.text, node.metadata, node.node.ref_doc_id)


queries = st.lists(st.sampled_from(ENGLISH + CHINESE + ["unknown", "？"]), min_size=1, max_size=8).map(" ".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(queries, st.sampled_from([1, 8, 500]))
def test_every_question_finds_the_same_passages(stores: tuple[Store, Store], query: str, top_k: int) -> None:
    memory, disk = stores
    assert memory.count() == disk.count()
    same(memory.keyword_search(query, top_k), disk.keyword_search(query, top_k), top_k)
    vector = vector_of(query)
    same(memory.dense_search(vector, top_k), disk.dense_search(vector, top_k), top_k)


@st.composite
def conditions(draw: st.DrawFn) -> MetadataFilter:
    operator = draw(st.sampled_from(list(FilterOperator)))
    singles = st.sampled_from([value for value in VALUES if isinstance(value, str | int | float)])
    if operator in (FilterOperator.IN, FilterOperator.NIN):
        value: Any = draw(st.lists(singles, max_size=3))
    elif operator in (FilterOperator.EQ, FilterOperator.NE, FilterOperator.CONTAINS):
        value = draw(singles)
    else:
        value = draw(singles.filter(lambda one: not isinstance(one, bool)))
    return MetadataFilter(draw(st.sampled_from([*KEYS, "missing"])), value, operator)


filters = st.recursive(
    conditions(),
    lambda parts: st.builds(MetadataFilters, st.lists(parts, max_size=3), st.sampled_from(FilterCondition)),
    max_leaves=6,
).map(lambda part: part if isinstance(part, MetadataFilters) else MetadataFilters([part]))


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters)
def test_every_filter_lets_the_same_passages_through(stores: tuple[Store, Store], condition: MetadataFilters) -> None:
    memory, disk = stores
    vector = vector_of("library 图书馆")
    expected = {node.node_id for node in memory.dense_search(vector, 1000, condition)}
    assert {node.node_id for node in disk.dense_search(vector, 1000, condition)} == expected
    query = "library pump 图书馆 水泵"
    assert {node.node_id for node in disk.keyword_search(query, 1000, condition)} == {
        node.node_id for node in memory.keyword_search(query, 1000, condition)
    }
