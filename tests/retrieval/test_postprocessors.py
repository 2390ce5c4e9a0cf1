import asyncio
from copy import deepcopy
from typing import Any

import pytest

from responsa.retrieval.fusion import Match, RetrievedNode
from responsa.retrieval.postprocessors import (
    DedupPostprocessor,
    KeywordNodePostprocessor,
    LongContextReorder,
    Rerank,
    SimilarityPostprocessor,
)
from responsa.schema.errors import InvalidOption, MissingArgument, RetrievalFailed
from responsa.schema.nodes import NodeWithScore, QueryBundle, TextNode
from responsa.schema.protocols import Postprocessor


def node(id_: str, score: float | None = None, text: str | None = None) -> NodeWithScore:
    return NodeWithScore(TextNode(text if text is not None else id_, id_=id_), score)


def process(postprocessor: Postprocessor, nodes: list[NodeWithScore], **query: Any) -> list[str]:
    """Run both ways, which must agree and leave the nodes as they are."""
    before = deepcopy(nodes)
    result = postprocessor.postprocess_nodes(nodes, **query)
    assert asyncio.run(postprocessor.apostprocess_nodes(nodes, **query)) == result
    assert nodes == before
    return [one.node_id for one in result]


def test_similarity_cutoff_compares_the_score() -> None:
    nodes = [node("a", 0.9), node("b", 0.5), node("c", 0.499), node("d")]
    assert process(SimilarityPostprocessor(similarity_cutoff=0.5), nodes) == ["a", "b"]
    assert process(SimilarityPostprocessor(), nodes) == ["a", "b", "c"]


def test_similarity_cutoff_compares_cosine_similarity_in_hybrid_results_whatever_found_them() -> None:
    nodes: list[NodeWithScore] = [
        RetrievedNode(TextNode("a", id_="a"), 0.03, {"dense": Match(1, 0.9)}, 0.9),
        RetrievedNode(TextNode("b", id_="b"), 0.02, {"keyword": Match(1, 7.0)}, 0.4),
        RetrievedNode(TextNode("c", id_="c"), 0.01, {"keyword": Match(2, 6.0)}, 0.8),
        RetrievedNode(TextNode("d", id_="d"), 7.5, {"keyword": Match(3, 7.5)}),
    ]
    assert process(SimilarityPostprocessor(similarity_cutoff=0.7), nodes) == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("required", "excluded", "expected"),
    [
        ((), (), ["en", "zh", "none"]),
        (("libraries",), (), ["en"]),
        (("图书馆",), (), ["zh"]),
        (("library", "图书馆"), (), ["en", "zh"]),
        (("Saturday OPENS",), (), ["en"]),
        (("library pump",), (), []),
        ((), ("LIBRARY",), ["zh", "none"]),
        ((), ("开门",), ["en", "none"]),
        (("library",), ("saturday",), []),
        ((), ("", "？"), ["en", "zh", "none"]),
    ],
)
def test_keywords_are_required_and_excluded_in_both_languages(
    required: tuple[str, ...], excluded: tuple[str, ...], expected: list[str]
) -> None:
    nodes = [
        node("en", text="The library opens on Saturdays."),
        node("zh", text="图书馆周六开门。"),
        node("none", text="Nothing."),
    ]
    assert process(KeywordNodePostprocessor(required, excluded), nodes) == expected


def test_the_first_of_equal_passages_is_kept() -> None:
    nodes = [
        node("a", text="The library opens."),
        node("b", text="the  LIBRARY opens"),
        node("a", text="Something else."),
        node("c", text="opens the library"),
        node("d", text="。。"),
        node("e", text="。。"),
        node("f", text="！"),
    ]
    assert process(DedupPostprocessor(), nodes) == ["a", "c", "d", "f"]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, []), (1, [0]), (2, [0, 1]), (3, [0, 2, 1]), (6, [0, 2, 4, 5, 3, 1]), (7, [0, 2, 4, 6, 5, 3, 1])],
)
def test_the_best_stand_at_both_ends(count: int, expected: list[int]) -> None:
    nodes = [node(str(place), 1.0 - place / 10) for place in range(count)]
    assert process(LongContextReorder(), nodes) == [str(place) for place in expected]
    assert process(LongContextReorder(), nodes[::-1]) == [str(place) for place in expected]


def test_passages_without_scores_are_taken_as_they_stand() -> None:
    assert process(LongContextReorder(), [node("a"), node("b"), node("c")]) == ["a", "c", "b"]


class LengthReranker:
    """Scores a text by its length."""

    def __init__(self, scores: list[float] | None = None) -> None:
        self.scores = scores
        self.asked: list[tuple[str, list[str]]] = []

    def rerank(self, query: str, texts: Any) -> list[float]:
        self.asked.append((query, list(texts)))
        return [float(len(text)) for text in texts] if self.scores is None else self.scores

    async def arerank(self, query: str, texts: Any) -> list[float]:
        return self.rerank(query, texts)


def test_reranking_orders_by_the_model_and_keeps_the_best() -> None:
    reranker = LengthReranker()
    nodes: list[NodeWithScore] = [
        node("a", 0.9),
        RetrievedNode(TextNode("bbb", id_="b", metadata={"title": "T"}), 0.8, {"dense": Match(2, 0.8)}, 0.8),
        node("c", 0.7, "cc"),
    ]
    assert process(Rerank(reranker, top_n=2), nodes, query_bundle=QueryBundle("question")) == ["b", "c"]
    assert reranker.asked[0] == ("question", ["a", "title: T\n\nbbb", "cc"])
    best, second = Rerank(reranker, top_n=2).postprocess_nodes(nodes, query_str="question")
    assert isinstance(best, RetrievedNode)
    assert best.matches == {"dense": Match(2, 0.8), "rerank": Match(1, 13.0)}
    assert (best.score, best.similarity, second.score) == (13.0, 0.8, 2.0)


def test_reranking_nothing_asks_nobody() -> None:
    reranker = LengthReranker()
    assert process(Rerank(reranker), [], query_str="question") == []
    assert reranker.asked == []


@pytest.mark.parametrize("scores", [[], [1.0, 2.0], [float("nan")]])
def test_scores_that_are_none_are_refused(scores: list[float]) -> None:
    with pytest.raises(RetrievalFailed):
        process(Rerank(LengthReranker(scores)), [node("a")], query_str="question")


def test_reranking_needs_a_question_and_a_sensible_number() -> None:
    with pytest.raises(MissingArgument):
        Rerank(LengthReranker()).postprocess_nodes([node("a")])
    with pytest.raises(InvalidOption):
        Rerank(LengthReranker(), top_n=0)
