"""What holds for every text: places are right, nothing is lost or repeated, no passage is too large."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from responsa.retrieval.splitting import SentenceSplitter
from responsa.schema.nodes import Document
from responsa.tokens.estimate import estimate_tokens

PIECES = st.sampled_from(
    [
        "# Heading\n",
        "## 标题\n",
        "Title\n=====\n",
        "A sentence with words. ",
        "这是一个句子。",
        "他问：“真的吗？”",
        "- item\n",
        "1. first\n",
        "> quoted\n",
        ">\n",
        "| a | b |\n",
        "```\n",
        "~~~python\n",
        "code = [1, 2]  # note\n",
        "    indented\n",
        "---\n",
        "title: x\n",
        "👨‍👩‍👧‍👦",
        "e\u0301",
        "भाषा ",
        "نص عربي. ",
        "x" * 90,
        "字" * 60,
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        " ",
        "\u2028",
        "\x0c",
        "\ud800",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=20), max_size=40).map("".join)
COUNTERS: st.SearchStrategy[Callable[[str], int]] = st.sampled_from(
    [estimate_tokens, len, lambda text: len(text.split()), lambda text: len(text.encode("utf-8", "surrogatepass"))]
)


@settings(max_examples=250, deadline=None)
@given(TEXTS, st.integers(1, 60), COUNTERS, st.sampled_from(["text/markdown", "text/plain"]))
def test_passages_cover_the_text_in_order_within_the_size(
    text: str, size: int, count: Callable[[str], int], file_type: str
) -> None:
    document = Document(text, metadata={"file_type": file_type})
    end = 0
    for node in SentenceSplitter(size, token_counter=count).get_nodes_from_documents([document]):
        assert node.start_char_idx is not None
        assert node.end_char_idx is not None
        assert text[node.start_char_idx : node.end_char_idx] == node.text
        assert text[end : node.start_char_idx].strip() == ""
        assert node.text == node.text.strip()
        assert node.text
        assert count(node.text) <= size or len(node.text) == 1
        end = node.end_char_idx
    assert text[end:].strip() == ""


@settings(max_examples=2500, deadline=None)
@given(TEXTS, st.integers(2, 60), st.data())
def test_with_an_overlap_passages_still_move_on_and_lose_nothing(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, size - 1))
    end = start = -1
    covered = 0
    for node in SentenceSplitter(size, overlap).get_nodes_from_documents([Document(text)]):
        assert node.start_char_idx is not None
        assert node.end_char_idx is not None
        assert text[node.start_char_idx : node.end_char_idx] == node.text
        assert node.start_char_idx > start
        assert node.end_char_idx > end
        assert text[covered : node.start_char_idx].strip() == ""
        assert estimate_tokens(node.text) <= size or len(node.text) == 1
        start, end = node.start_char_idx, node.end_char_idx
        covered = max(covered, end)
    assert text[covered:].strip() == ""
