"""What every store of passages must do, as tests: subclass `StoreContract` and say how to make a store.

Example:
    class TestMyStore(StoreContract):
        def make_store(self, directory: Path, meta: StoreMeta) -> Store:
            return MyStore.create(directory, meta)
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from responsa.retrieval.stores.contract import Store, StoredDocument, StoreMeta
from responsa.retrieval.stores.vectors import unit_vector
from responsa.schema.errors import IndexLocked
from responsa.schema.filters import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from responsa.schema.nodes import TextNode

from .embedder import BagOfWordsEmbedder

Call: TypeAlias = Callable[..., Any]

EMBEDDER: Final = BagOfWordsEmbedder(32)
HOSTILE_TEXTS: Final = (
    "'",
    "''; DROP TABLE passages; --",
    '"',
    "a' OR '1'='1",
    "\\' OR true --",
    "%",
    "_",
    "\x00",
    "\n\t",
    "$.n",
    "a[0].b",
    "",
    "\udcff",
    "中文，标点。",
    "🙂",
    "x" * 5000,
)
FILTERED: Final[dict[str, dict[str, Any]]] = {
    "one": {"lang": "en", "year": 2001, "tags": ["red", "blue"], "draft": True, "path": "/docs/one.md"},
    "two": {"lang": "zh", "year": 2010.5, "tags": ["blue"], "draft": False, "path": "/docs/two.md"},
    "three": {"lang": "zh", "year": "2010", "tags": "red", "path": "/notes/three.md"},
    "four": {},
}
FILTERS: Final[list[tuple[str, Any, str, set[str]]]] = [
    ("lang", "zh", "==", {"two", "three"}),
    ("lang", "ZH", "==", set()),
    ("lang", "zh", "!=", {"one", "four"}),
    ("year", 2001, "==", {"one"}),
    ("year", 2001.0, "==", {"one"}),
    ("year", "2010", "==", {"three"}),
    ("year", 2005, ">", {"two"}),
    ("year", 2001, ">=", {"one", "two"}),
    ("year", 2001, ">", {"two"}),
    ("year", 2010.5, "<=", {"one", "two"}),
    ("year", 2010.5, "<", {"one"}),
    ("year", "2000", ">", {"three"}),
    ("lang", "f", ">", {"two", "three"}),
    ("lang", ["en", "fr"], "in", {"one"}),
    ("lang", ["en", "fr"], "nin", {"two", "three", "four"}),
    ("lang", [], "in", set()),
    ("lang", [], "nin", {"one", "two", "three", "four"}),
    ("year", [2001, "2010"], "in", {"one", "three"}),
    ("tags", "red", "contains", {"one", "three"}),
    ("tags", "re", "contains", {"three"}),
    ("tags", "blue", "contains", {"one", "two"}),
    ("path", "/docs/", "contains", {"one", "two"}),
    ("draft", True, "==", {"one"}),
    ("draft", False, "==", {"two"}),
    ("draft", 1, "==", set()),
    ("missing", "x", "==", set()),
    ("missing", "x", "!=", {"one", "two", "three", "four"}),
    ("missing", 1, "<", set()),
]


def vector_of(text: str) -> array[float]:
    """Return the vector of a text that the tests store and search with."""
    return unit_vector(EMBEDDER.get_query_embedding(text))


def document(doc_id: str, *texts: str, content_hash: str = "h1", **metadata: Any) -> StoredDocument:
    """Make a document of passages with the identities `doc_id/0`, `doc_id/1` and so on."""
    nodes = [
        TextNode(text, id_=f"{doc_id}/{number}", ref_doc_id=doc_id, metadata=dict(metadata))
        for number, text in enumerate(texts)
    ]
    return StoredDocument(doc_id, content_hash, nodes, [vector_of(text) for text in texts])


class StoreContract(ABC):
    """Tests of a store; each runs over its blocking and its asynchronous methods."""

    @abstractmethod
    def make_store(self, directory: Path, meta: StoreMeta) -> Store:
        """Return a new, empty store."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """A new, empty store."""
        store = self.make_store(tmp_path / "store", StoreMeta("bag-of-words", EMBEDDER.dimensions))
        yield store
        store.close()

    @pytest.fixture(params=["blocking", "asynchronous"])
    def call(self, request: pytest.FixtureRequest, store: Store) -> Call:
        """Call a method by name, in either form."""

        def call(name: str, *args: Any) -> Any:
            if request.param == "blocking":
                return getattr(store, name)(*args)
            return asyncio.run(getattr(store, f"a{name}")(*args))

        return call

    def test_a_new_store_is_empty(self, store: Store, call: Call) -> None:
        assert call("count") == 0
        assert call("document_hashes") == {}
        assert call("dense_search", vector_of("library"), 5) == []
        assert call("keyword_search", "library", 5) == []
        assert call("get_nodes", ["a/0"]) == []
        assert call("similarities", vector_of("library"), ["a/0"]) == {}
        assert store.meta == StoreMeta("bag-of-words", EMBEDDER.dimensions)

    def test_a_stored_passage_comes_back_as_it_was(self, call: Call) -> None:
        node = TextNode(
            "The library opens at 11.\n图书馆 \udcff \x00 🙂",
            id_="a/0",
            ref_doc_id="a",
            metadata={"page": 3, "ratio": 0.5, "tags": ["x", 1], "more": {"deep": [None, True]}, "题": "目"},
            excluded_llm_metadata_keys=["page"],
            excluded_embed_metadata_keys=["tags"],
            start_char_idx=10,
            end_char_idx=42,
            text_template="{content}",
        )
        call("replace_documents", [StoredDocument("a", "h", [node], [vector_of("library")])])
        assert call("get_nodes", ["a/0"]) == [node]
        assert [found.node for found in call("dense_search", vector_of("library"), 1)] == [node]
        assert [found.node for found in call("keyword_search", "library", 1)] == [node]

    def test_passages_come_in_the_order_asked_for_and_unknown_ones_are_left_out(self, call: Call) -> None:
        call("replace_documents", [document("a", "one", "two", "three")])
        assert _ids(call("get_nodes", ["a/2", "no", "a/0"])) == ["a/2", "a/0"]
        assert call("get_nodes", []) == []

    def test_a_document_replaces_what_was_stored_under_its_identity(self, call: Call) -> None:
        call("replace_documents", [document("a", "red", "green", "blue"), document("b", "yellow")])
        call("replace_documents", [document("a", "black", content_hash="h2"), document("c", "white")])
        assert call("count") == 3
        assert call("document_hashes") == {"a": "h2", "b": "h1", "c": "h1"}
        assert call("document_hashes", ["a", "no"]) == {"a": "h2"}
        assert call("document_hashes", []) == {}
        assert call("keyword_search", "green", 5) == []
        assert _ids(call("keyword_search", "black white yellow", 5)) == ["a/0", "b/0", "c/0"]

    def test_a_document_without_passages_takes_away_what_was_stored(self, call: Call) -> None:
        call("replace_documents", [document("a", "red"), document("b", "green")])
        call("replace_documents", [document("a")])
        assert call("document_hashes") == {"b": "h1"}
        call("replace_documents", [])
        assert call("count") == 1

    def test_single_passages_are_added_and_replaced_by_identity(self, call: Call) -> None:
        call("replace_documents", [document("a", "red", "green")])
        new = [TextNode("violet", id_="a/1", ref_doc_id="a"), TextNode("grey", id_="single")]
        call("add_nodes", new, [vector_of("violet"), vector_of("grey")])
        call("add_nodes", [], [])
        assert call("count") == 3
        assert call("get_nodes", ["a/0", "a/1", "single"])[1:] == new
        assert call("keyword_search", "green", 5) == []
        assert call("document_hashes") == {"a": "h1"}

    def test_documents_are_deleted_with_all_their_passages(self, call: Call) -> None:
        call("replace_documents", [document("a", "red", "green"), document("b", "blue"), document("c", "red")])
        assert call("delete_documents", ["a", "b", "no", "a"]) == 3
        assert call("delete_documents", ["a"]) == 0
        assert call("delete_documents", []) == 0
        assert call("document_hashes") == {"c": "h1"}
        assert _ids(call("keyword_search", "red", 5)) == ["c/0"]
        assert _ids(call("dense_search", vector_of("red"), 5)) == ["c/0"]

    def test_passages_are_deleted_one_by_one(self, call: Call) -> None:
        call("replace_documents", [document("a", "red", "green", "blue")])
        assert call("delete_nodes", ["a/1", "a/2", "no"]) == 2
        assert _ids(call("get_nodes", ["a/0", "a/1", "a/2"])) == ["a/0"]

    def test_dense_search_is_ordered_by_cosine_similarity(self, call: Call) -> None:
        texts = ["red", "red green", "red green blue", "yellow"]
        call("replace_documents", [document("a", *texts)])
        query = vector_of("red")
        found = call("dense_search", query, 3)
        expected = {f"a/{n}": _dot(query, vector_of(text)) for n, text in enumerate(texts)}
        assert _ids(found) == sorted(expected, key=lambda node_id: -expected[node_id])[:3]
        assert [one.score for one in found] == pytest.approx([expected[one.node_id] for one in found], abs=1e-5)

    def test_similarities_are_those_of_dense_search(self, call: Call) -> None:
        call("replace_documents", [document("a", "red", "red green", "blue")])
        query = vector_of("red")
        found = {one.node_id: one.score for one in call("dense_search", query, 3)}
        assert call("similarities", query, ["a/1", "a/0", "no"]) == pytest.approx(
            {"a/0": found["a/0"], "a/1": found["a/1"]}, abs=1e-5
        )

    def test_equal_scores_are_ordered_by_identity(self, call: Call) -> None:
        for doc_id in ("b", "c", "a"):
            call("replace_documents", [document(doc_id, "red")])
        assert _ids(call("dense_search", vector_of("red"), 3)) == ["a/0", "b/0", "c/0"]
        assert _ids(call("keyword_search", "red", 3)) == ["a/0", "b/0", "c/0"]

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("When does the LIBRARY open?", "en"),
            ("libraries", "en"),
            ("图书馆几点开门？", "zh"),
            ("图书", "zh"),
            ("max_tokens", "id"),
            ("the max tokens", "id"),
            ("ISO-8601", "id"),
            ("v1.2", "id"),
            ("C++", "id"),
            ("ＩＳＯ－８６０１", "id"),
        ],
    )
    def test_keyword_search_finds_words_of_both_languages_and_identifiers(
        self, call: Call, query: str, expected: str
    ) -> None:
        documents = [
            document("en", "The library opens on Saturday."),
            document("zh", "图书馆周六上午11点开门。"),
            document("id", "Set max_tokens (v1.2, ISO-8601, C++)."),
            document("no", "Nothing of that kind. 完全无关的内容。"),
        ]
        call("replace_documents", documents)
        assert _ids(call("keyword_search", query, 1)) == [f"{expected}/0"]

    @pytest.mark.parametrize("query", ["", "  ", "？！", "zzzz", "\x00"])
    def test_keyword_search_for_words_that_nothing_has_finds_nothing(self, call: Call, query: str) -> None:
        call("replace_documents", [document("a", "red"), document("b", "图书馆")])
        assert call("keyword_search", query, 5) == []

    def test_keyword_search_takes_any_text(self, call: Call) -> None:
        call("replace_documents", [document("a", "red")])
        for query in (*HOSTILE_TEXTS, "red AND (", '"red', "red^2 -blue +x ~", "x " * 100_000):
            call("keyword_search", query, 5)

    def test_rare_words_count_more_and_repeated_ones_more_than_single(self, call: Call) -> None:
        call(
            "replace_documents",
            [document("a", "pump valve", "pump pump valve", "pump oil"), document("b", *["pump"] * 5)],
        )
        assert _ids(call("keyword_search", "pump oil", 1)) == ["a/2"]
        assert _ids(call("keyword_search", "valve", 5)) == ["a/0", "a/1"]

    @pytest.mark.parametrize(("key", "value", "operator", "expected"), FILTERS)
    def test_searches_return_only_passages_that_meet_the_filter(
        self, call: Call, key: str, value: Any, operator: str, expected: set[str]
    ) -> None:
        call("replace_documents", [document(doc_id, "red", **metadata) for doc_id, metadata in FILTERED.items()])
        filters = MetadataFilters([MetadataFilter(key, value, FilterOperator(operator))])
        wanted = {f"{doc_id}/0" for doc_id in expected}
        assert set(_ids(call("dense_search", vector_of("red"), 10, filters))) == wanted
        assert set(_ids(call("keyword_search", "red", 10, filters))) == wanted

    def test_filters_are_joined_by_and_and_or_and_nested(self, call: Call) -> None:
        call("replace_documents", [document(doc_id, "red", **metadata) for doc_id, metadata in FILTERED.items()])
        chinese, early = MetadataFilter("lang", "zh"), MetadataFilter("year", 2005, FilterOperator.LT)
        two = MetadataFilter("path", "two", FilterOperator.CONTAINS)

        def found(filters: MetadataFilters) -> list[str]:
            return [node_id.removesuffix("/0") for node_id in _ids(call("dense_search", vector_of("red"), 10, filters))]

        assert found(MetadataFilters([chinese, two])) == ["two"]
        assert found(MetadataFilters([chinese, early], FilterCondition.OR)) == ["one", "three", "two"]
        assert found(MetadataFilters([early, MetadataFilters([chinese, two])], FilterCondition.OR)) == ["one", "two"]
        assert found(MetadataFilters([])) == ["four", "one", "three", "two"]
        assert found(MetadataFilters([chinese, MetadataFilters([])])) == ["three", "two"]

    @pytest.mark.parametrize("text", HOSTILE_TEXTS)
    def test_filters_take_any_text_as_a_value_and_as_a_key(self, call: Call, text: str) -> None:
        call("replace_documents", [document("a", "red", **{"key": text, text: "value"}), document("b", "red")])
        for condition in (
            MetadataFilter("key", text),
            MetadataFilter("key", [text], FilterOperator.IN),
            MetadataFilter("key", text, FilterOperator.GTE),
            MetadataFilter("key", text, FilterOperator.CONTAINS),
            MetadataFilter(text, "value"),
            MetadataFilter(text, "val", FilterOperator.CONTAINS),
            MetadataFilter(text, "value", FilterOperator.LTE),
        ):
            assert _ids(call("dense_search", vector_of("red"), 5, MetadataFilters([condition]))) == ["a/0"]
        other = MetadataFilters([MetadataFilter("key", text, FilterOperator.NE)])
        assert _ids(call("keyword_search", "red", 5, other)) == ["b/0"]

    @pytest.mark.parametrize("text", HOSTILE_TEXTS)
    def test_identities_are_any_text(self, call: Call, text: str) -> None:
        node = TextNode("red", id_=text, ref_doc_id=text)
        call("replace_documents", [StoredDocument(text, "h", [node], [vector_of("red")]), document("b", "red")])
        assert call("document_hashes") == {text: "h", "b": "h1"}
        assert call("document_hashes", [text]) == {text: "h"}
        assert call("get_nodes", [text]) == [node]
        assert list(call("similarities", vector_of("red"), [text])) == [text]
        assert call("delete_documents", [text]) == 1
        assert call("document_hashes") == {"b": "h1"}

    def test_what_is_handed_out_and_in_is_not_shared(self, call: Call) -> None:
        given = document("a", "red", tags=["x"])
        call("replace_documents", [given])
        given.nodes[0].metadata["tags"].append("changed")
        for found in call("dense_search", vector_of("red"), 1) + call("keyword_search", "red", 1):
            assert found.metadata == {"tags": ["x"]}
            found.node.metadata["tags"].append("changed")
        [node] = call("get_nodes", ["a/0"])
        assert node.metadata == {"tags": ["x"]}

    def test_optimizing_changes_no_result(self, store: Store, call: Call) -> None:
        texts = [
            f"passage {number} about {'pumps' if number % 3 else 'valves'} 水泵 {number % 7}" for number in range(60)
        ]
        call("replace_documents", [document("a", *texts)])
        call("delete_nodes", [f"a/{number}" for number in range(0, 60, 10)])
        searches: Sequence[tuple[str, Any]] = [
            ("dense_search", vector_of("valves 3")),
            ("keyword_search", "valves 水泵"),
        ]
        before = [_ids(call(name, query, 10)) for name, query in searches]
        with store.lock():
            call("optimize")
        assert [_ids(call(name, query, 10)) for name, query in searches] == before
        assert call("count") == 54

    def test_one_writes_at_a_time_and_reading_goes_on(self, store: Store, call: Call) -> None:
        call("replace_documents", [document("a", "red")])
        with store.lock():
            with pytest.raises(IndexLocked), store.lock():
                raise AssertionError("the lock was taken twice")
            assert call("count") == 1
        with store.lock():
            assert call("delete_documents", ["a"]) == 1


def _ids(found: Sequence[Any]) -> list[str]:
    return [one.id_ for one in found]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
