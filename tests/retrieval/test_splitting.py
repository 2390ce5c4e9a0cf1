"""Where documents are cut, and what every passage knows of its place."""

from __future__ import annotations

import pytest

from responsa.retrieval.splitting import SentenceSplitter
from responsa.schema.errors import InvalidOption
from responsa.schema.nodes import Document, MetadataMode, TextNode
from responsa.tokens.estimate import estimate_tokens

PAGE = """\
# The Guide

An introduction of a few words, enough of them to stand alone.

## Installing

Download the program. Unpack it. Start it with its script.

```console
$ tar -xf program.tar.gz
# this is a comment, not a heading
$ ./start
```

### On Windows

Run the installer and follow its steps.

## Removing

Delete the directory.
"""


def words(text: str) -> int:
    return len(text.split())


def nodes(text: str, size: int = 320, overlap: int = 0, **metadata: object) -> list[TextNode]:
    splitter = SentenceSplitter(size, overlap, token_counter=words)
    return splitter.get_nodes_from_documents([Document(text, id_="doc", metadata=dict(metadata))])


def texts(text: str, size: int, overlap: int = 0) -> list[str]:
    return [node.text for node in nodes(text, size, overlap)]


def test_passages_end_at_headings_and_carry_the_path_to_them() -> None:
    found = nodes(PAGE, 40)
    assert [node.text.splitlines()[0] for node in found] == [
        "# The Guide",
        "## Installing",
        "### On Windows",
        "## Removing",
    ]
    assert [node.metadata["title_path"] for node in found] == [
        "The Guide",
        "The Guide › Installing",
        "The Guide › Installing › On Windows",
        "The Guide › Removing",
    ]


def test_a_passage_is_a_piece_of_its_document_and_names_it() -> None:
    for node in nodes(PAGE, 12, file_name="guide.md"):
        assert PAGE[node.start_char_idx : node.end_char_idx] == node.text
        assert node.ref_doc_id == "doc"
        assert node.metadata["file_name"] == "guide.md"


def test_a_document_title_stands_before_its_headings_once() -> None:
    assert nodes("## Part\n\ntext", title="Book")[0].metadata["title_path"] == "Book › Part"
    assert nodes("# Book\n\ntext", title="Book")[0].metadata["title_path"] == "Book"
    assert nodes("text", title="Book")[0].metadata["title_path"] == "Book"
    assert nodes("text", title="Book", title_path="Book › Page one")[0].metadata["title_path"] == "Book › Page one"
    assert "title_path" not in nodes("text")[0].metadata


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("## Using `cargo` and **more** ##", "Using cargo and more"),
        ("# [Linked](https://example.org) title {#anchor}", "Linked title"),
        ('# <a id="x"></a>Tagged', "Tagged"),
        ("Underlined\n==========", "Underlined"),
        ("Second\n---", "Second"),
        ("# " + "x" * 300, "x" * 119 + "…"),
        ("# C#", "C#"),
    ],
)
def test_headings_are_named_without_their_marks(heading: str, title: str) -> None:
    assert nodes(f"{heading}\n\ntext")[0].metadata["title_path"] == title


def test_a_code_fence_stays_whole_where_it_fits_and_is_cut_at_lines_where_not() -> None:
    code = "```\n" + "".join(f"line {number} of code\n" for number in range(10)) + "```"
    text = f"{'Some words before it. ' * 5}\n\n{code}\n\nAfter it."
    assert any(code in passage for passage in texts(text, 50))
    for passage in texts(text, 20):
        assert all(line.count(" ") in (0, 3) for line in passage.splitlines() if line.startswith("line"))


def test_headings_in_code_and_front_matter_are_none() -> None:
    text = "---\ntitle: x\n# comment\n---\n\n```sh\n# comment\n```\n\n# Real\n\ntext"
    assert {node.metadata.get("title_path") for node in nodes(text, 8)} == {None, "Real"}


def test_plain_text_has_no_headings() -> None:
    assert "title_path" not in nodes("# comment\n\ntext", file_type="text/plain")[0].metadata


def test_a_heading_never_stands_alone_at_a_passage_end() -> None:
    text = "# One\n\n" + "word " * 18 + "end.\n\n## Two\n\n" + "word " * 18 + "end."
    assert [passage.splitlines()[0] for passage in texts(text, 24)] == ["# One", "## Two"]
    bare = "# One\n\n## Two\n\nA text of some words.\n"
    assert texts(bare, 12) == [bare.strip()]


def test_small_sections_are_joined_with_those_beside_and_under_them_only() -> None:
    text = "# A\n\n## B\n\n### C\n\nshort\n\n### D\n\nshort\n\n## E\n\nshort"
    found = nodes(text, 100)
    assert [node.text.split("\n\n")[-2] for node in found] == ["### D", "## E"]
    assert [node.metadata["title_path"] for node in found] == ["A › B", "A › E"]


def test_paragraphs_are_better_ends_than_sentences() -> None:
    text = "One two three four. Five six.\n\nSeven eight nine ten. Eleven twelve thirteen. Fourteen."
    assert texts(text, 10) == [
        "One two three four. Five six.",
        "Seven eight nine ten. Eleven twelve thirteen. Fourteen.",
    ]


def test_a_long_paragraph_is_cut_at_sentence_ends_in_both_languages() -> None:
    english = "The first sentence has words. The second one has Dr. Smith in it. The third one is 3.14 long."
    assert texts(english, 8) == [
        "The first sentence has words.",
        "The second one has Dr. Smith in it.",
        "The third one is 3.14 long.",
    ]
    chinese = SentenceSplitter(24).split_text("第一句话讲所有权。第二句话讲借用！第三句话讲生命周期？")
    assert chinese == ["第一句话讲所有权。", "第二句话讲借用！", "第三句话讲生命周期？"]


def test_an_overlap_repeats_whole_sentences_of_the_same_section() -> None:
    text = "One two three. Four five six. Seven eight nine. Ten eleven twelve."
    assert texts(text, 9, 3) == [
        "One two three. Four five six. Seven eight nine.",
        "Seven eight nine. Ten eleven twelve.",
    ]
    assert texts("# A\n\none two three\n\n# B\n\nfour five six", 6, 3) == [
        "# A\n\none two three",
        "# B\n\nfour five six",
    ]


def test_no_cut_falls_inside_a_sign_of_several_characters() -> None:
    family = "👨‍👩‍👧‍👦"
    for passage in SentenceSplitter(60).split_text(family * 20):
        assert passage.replace(family, "") == ""
    for passage in SentenceSplitter(5).split_text("e\u0301" * 40):
        assert passage.replace("e\u0301", "") == ""


def test_identities_are_the_same_in_every_run_and_differ_between_places() -> None:
    first, second = nodes(PAGE, 12), nodes(PAGE, 12)
    assert [node.id_ for node in first] == [node.id_ for node in second]
    assert len({node.id_ for node in first}) == len(first)


def test_what_speaks_of_the_file_alone_does_not_change_its_passages() -> None:
    before, after = nodes("text", file_hash="1"), nodes("text", file_hash="2")
    assert before[0].hash == after[0].hash


def test_passages_show_a_model_what_their_document_would() -> None:
    document = Document("# T\n\ntext", metadata={"url": "u"}, excluded_llm_metadata_keys=["url"])
    (node,) = SentenceSplitter().get_nodes_from_documents([document])
    assert node.get_content(MetadataMode.LLM) == "title_path: T\n\n# T\n\ntext"
    node.excluded_llm_metadata_keys.append("title_path")
    assert document.excluded_llm_metadata_keys == ["url"]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\n"])
def test_an_empty_document_has_no_passages(text: str) -> None:
    assert nodes(text) == []


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (10, 10), (10, -1)])
def test_sizes_out_of_range_are_refused_by_name(size: int, overlap: int) -> None:
    with pytest.raises(InvalidOption, match="chunk_"):
        SentenceSplitter(size, overlap)


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("unit", "length"),
    [
        *((unit, 2_000_000) for unit in ("x", "字", "x ", "#", "`", "👍", "\u0301", "...", "|a", " ")),
        *((unit, 200_000) for unit in ("\n", "> ", "- a\n", "---\n", "# a\n", "```\n", "a.\n\n", "[a](")),
    ],
)
def test_a_long_text_without_structure_or_of_nothing_else_takes_no_quadratic_time(unit: str, length: int) -> None:
    text = unit * (length // len(unit))
    assert all(estimate_tokens(passage) <= 320 for passage in SentenceSplitter().split_text(text))


def test_a_token_counter_that_counts_joined_texts_higher_is_obeyed() -> None:
    def count(text: str) -> int:
        return len(text) ** 2 // 100 + 1

    splitter = SentenceSplitter(50, token_counter=count)
    passages = splitter.split_text("A short sentence. " * 100)
    assert all(count(passage) <= 50 for passage in passages)
    assert "".join("".join(passages).split()) == "".join(("A short sentence. " * 100).split())
