"""Passages: what of their metadata is shown, and when two hold the same."""

from __future__ import annotations

import pytest

from responsa.schema.nodes import MetadataMode, NodeWithScore, TextNode


@pytest.fixture
def node() -> TextNode:
    return TextNode(
        "正文 text",
        metadata={"title": "T", "path": "/a", "note": "n"},
        excluded_llm_metadata_keys=["path"],
        excluded_embed_metadata_keys=["note"],
    )


@pytest.mark.parametrize(
    ("mode", "content"),
    [
        (MetadataMode.NONE, "正文 text"),
        (MetadataMode.ALL, "title: T\npath: /a\nnote: n\n\n正文 text"),
        (MetadataMode.LLM, "title: T\nnote: n\n\n正文 text"),
        (MetadataMode.EMBED, "title: T\npath: /a\n\n正文 text"),
    ],
)
def test_each_reader_is_shown_its_metadata(node: TextNode, mode: MetadataMode, content: str) -> None:
    assert node.get_content(mode) == content


@pytest.mark.parametrize("hostile", ["{content}", "{metadata_str}", "{key}{value}", "{0}", "%s"])
def test_text_and_metadata_are_never_read_as_templates(hostile: str) -> None:
    node = TextNode(hostile, metadata={"title": hostile, "k" + hostile: 1})
    assert node.get_content(MetadataMode.ALL) == f"title: {hostile}\nk{hostile}: 1\n\n{hostile}"


def test_equal_content_has_an_equal_hash_whatever_the_identity() -> None:
    assert TextNode("a", metadata={"x": 1, "y": 2}).hash == TextNode("a", metadata={"y": 2, "x": 1}).hash
    assert TextNode("a", metadata={"x": 1}).hash != TextNode("a", metadata={"x": 2}).hash
    assert TextNode("a").hash != TextNode("b").hash
    assert TextNode("lone \ud800 surrogate").hash


def test_a_score_that_was_not_measured_is_zero_or_an_error() -> None:
    assert NodeWithScore(TextNode("a")).get_score() == 0.0
    assert NodeWithScore(TextNode("a"), 0.25).get_score(raise_error=True) == 0.25
    with pytest.raises(ValueError, match="no score"):
        NodeWithScore(TextNode("a")).get_score(raise_error=True)
