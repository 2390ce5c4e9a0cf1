from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.retrieval.fusion import Match, RetrievedNode, reciprocal_rank_fusion
from responsa.schema.errors import InvalidOption
from responsa.schema.nodes import NodeWithScore, TextNode


def ranked(*ids: str) -> list[NodeWithScore]:
    return [NodeWithScore(TextNode(id_, id_=id_), 10.0 - place) for place, id_ in enumerate(ids)]


def ids(nodes: list[RetrievedNode]) -> list[str]:
    return [node.node_id for node in nodes]


def test_a_passage_in_both_lists_comes_before_those_in_one() -> None:
    fused = reciprocal_rank_fusion({"dense": ranked("a", "b", "c"), "keyword": ranked("x", "c")})
    assert ids(fused) == ["c", "a", "x", "b"]
    assert fused[0].score == pytest.approx(1 / 63 + 1 / 62)
    assert fused[0].matches == {"dense": Match(3, 8.0), "keyword": Match(2, 9.0)}
    assert fused[1].matches == {"dense": Match(1, 10.0)}


@pytest.mark.parametrize(
    ("weights", "expected"),
    [({}, ["a", "b"]), ({"keyword": 2.0}, ["b", "a"]), ({"dense": 0.0}, ["b", "a"])],
)
def test_weights_say_how_much_a_list_counts(weights: dict[str, float], expected: list[str]) -> None:
    assert ids(reciprocal_rank_fusion({"dense": ranked("a"), "keyword": ranked("b")}, weights=weights)) == expected


def test_a_passage_twice_in_one_list_counts_at_its_better_place() -> None:
    [only] = reciprocal_rank_fusion({"dense": ranked("a", "a")})
    assert only.score == pytest.approx(1 / 61)


def test_top_k_and_k() -> None:
    lists = {"dense": ranked("a", "b", "c")}
    assert ids(reciprocal_rank_fusion(lists, top_k=2)) == ["a", "b"]
    assert reciprocal_rank_fusion(lists, k=0)[1].score == pytest.approx(0.5)
    assert reciprocal_rank_fusion({}) == []


def test_similarity_is_taken_from_the_list_that_measured_it() -> None:
    measured = [RetrievedNode(TextNode("a", id_="a"), 0.8, {}, 0.8)]
    assert reciprocal_rank_fusion({"keyword": ranked("a"), "dense": measured})[0].similarity == 0.8


@pytest.mark.parametrize("weights", [{"sparse": 1.0}, {"dense": -1.0}, {"dense": float("nan")}])
def test_weights_that_mean_nothing_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(InvalidOption):
        reciprocal_rank_fusion({"dense": ranked("a")}, weights=weights)


lists = st.dictionaries(
    st.sampled_from(["dense", "keyword", "third"]), st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=3
)


@given(lists)
def test_fusion_loses_nothing_repeats_nothing_and_leaves_its_input(given_lists: dict[str, list[str]]) -> None:
    results = {name: ranked(*found) for name, found in given_lists.items()}
    before = deepcopy(results)
    fused = reciprocal_rank_fusion(results)
    assert sorted(ids(fused)) == sorted({one for found in given_lists.values() for one in found})
    scores = [node.get_score() for node in fused]
    assert scores == sorted(scores, reverse=True)
    assert results == before


@given(lists)
def test_fusion_depends_on_ranks_and_not_on_the_order_of_lists(given_lists: dict[str, list[str]]) -> None:
    forward = {name: ranked(*found) for name, found in given_lists.items()}
    backward = dict(reversed(forward.items()))
    assert ids(reciprocal_rank_fusion(forward)) == ids(reciprocal_rank_fusion(backward))
