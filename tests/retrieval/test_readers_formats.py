"""Real files of every format, read whole and with their structure."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from responsa.retrieval.readers import SimpleDirectoryReader
from responsa.retrieval.readers.entry_extra import checked_extra
from responsa.retrieval.splitting import SentenceSplitter
from responsa.schema.nodes import Document, MetadataMode

FILES = Path(__file__).parent.parent / "data" / "documents"


def read(name: str) -> list[Document]:
    reader = SimpleDirectoryReader(input_files=[FILES / name])
    documents = reader.load_data()
    assert not reader.report.skipped, reader.report.render()
    return documents


def paths_of(documents: list[Document]) -> list[str]:
    nodes = SentenceSplitter().get_nodes_from_documents(documents)
    return list(dict.fromkeys(node.metadata["title_path"] for node in nodes))


@pytest.mark.parametrize("encoding", ["gb18030", "utf16", "utf8-bom"])
def test_text_in_the_encodings_of_chinese_users(encoding: str) -> None:
    (document,) = read(f"variables.zh.{encoding}.txt")
    assert document.text.startswith("变量和可变性\n")
    assert "\ufffd" not in document.text
    assert "\r" not in document.text
    assert len(document.text) == 3735
    assert document.metadata["file_type"] == "text/plain"


def test_a_packed_markdown_file_is_read_as_what_is_in_it() -> None:
    (document,) = read("installing.zh.md.gz")
    assert document.metadata["file_type"] == "text/markdown"
    assert document.metadata["file_name"] == "installing.zh.md.gz"
    assert document.metadata["title"] == "使用 cargo install 从 Crates.io 安装二进制文件"
    assert "$HOME/.cargo/bin" in document.text


@pytest.mark.parametrize(
    ("language", "title", "first", "table"),
    [
        (
            "en",
            "Installing Binaries from Crates.io with cargo install",
            "The cargo install command allows",
            "| Command | Purpose |",
        ),
        ("zh", "使用 cargo install 从 Crates.io 安装二进制文件", "cargo install 命令用于", "| 命令 | 用途 |"),
    ],
)
def test_an_html_page_gives_its_content_without_its_furniture(
    language: str, title: str, first: str, table: str
) -> None:
    (document,) = read(f"installing.{language}.html")
    assert document.metadata["title"] == title
    assert document.metadata["url"] == "https://doc.rust-lang.org/book/ch14-04-installing-binaries.html"
    assert document.text.startswith(f"# {title}\n\n{first}")
    assert "```\n$ cargo install ripgrep\n" in document.text
    assert f"{table}\n| --- | --- |\n| cargo install ripgrep |" in document.text
    for furniture in ("not content", "wants scripts", "搜索\n", "Search", "Hello, Cargo!", "上一章", "Next", "hidden"):
        assert furniture not in document.text


@pytest.mark.parametrize(
    ("language", "title", "running_head", "sections"),
    [
        (
            "en",
            "How Rust is Made",
            "The Rust Programming Language",
            ["Stability Without Stagnation", "Maintenance time", "Unstable Features", "The RFC Process and Teams"],
        ),
        ("zh", "Rust 是如何开发的", "Rust 程序设计语言", ["稳定而不停滞", "维护时间", "不稳定功能", "RFC 过程和团队"]),
    ],
)
def test_a_pdf_keeps_its_pages_and_bookmarks_and_drops_running_heads(
    language: str, title: str, running_head: str, sections: list[str]
) -> None:
    documents = read(f"nightly.{language}.pdf")
    pages = [document.metadata["page"] for document in documents]
    assert pages == sorted(pages)
    assert set(pages) == set(range(1, pages[-1] + 1))
    assert {document.metadata["title"] for document in documents} == {title}
    assert not any(running_head in document.text or "- 2 -" in document.text for document in documents)
    for section in sections:
        assert any(document.metadata["title_path"].endswith(f" › {section}") for document in documents)
        assert any(document.text.startswith(section) for document in documents)


def test_chinese_lines_of_a_pdf_are_joined_without_breaks() -> None:
    text = "".join(document.text for document in read("nightly.zh.pdf"))
    assert "我们希望 Rust 成为你代码的坚实基础，假如持续地有东西在变，这个希望就实现不了。" in text


def test_a_word_file_gives_headings_lists_and_code() -> None:
    documents = read("ownership.zh.docx")
    assert documents[0].metadata["title"] == "什么是所有权？"
    assert "什么是所有权？ › 所有权规则" in paths_of(documents)
    assert "- 值在任一时刻有且只有一个所有者。\n- " in documents[0].text
    assert '```\nlet s = "hello";\n```' in documents[0].text


def test_a_publishers_word_file_with_styles_of_its_own_gives_headings() -> None:
    documents = read("keywords.en.docx")
    assert documents[0].metadata["title"] == "Keywords"
    assert paths_of(documents)[-1] == "Keywords › Raw Identifiers"
    assert "```\nfn match(needle: &str, haystack: &str) -> bool {\n" in documents[0].text


def test_knowledge_entries_are_documents_with_all_their_fields() -> None:
    english, chinese, bare = read("entries.jsonl")
    assert english.metadata["question"] == "How do I install ripgrep?"
    assert english.metadata["full_answer"].startswith("## Install\n")
    assert english.metadata["url"] == "https://example.org/install"
    assert english.metadata["category"] == "doc"
    assert english.text.startswith("How do I install ripgrep?\n\nRun cargo install ripgrep.\n\n## Install")
    assert chinese.metadata["title_path"] == "安装 › 怎样安装 ripgrep？"
    assert "full_answer" not in chinese.metadata
    assert bare.text == "An answer alone is enough."
    assert len({document.id_ for document in (english, chinese, bare)}) == 3


def test_long_fields_of_an_entry_are_not_carried_by_each_of_its_passages(tmp_path: Path) -> None:
    entry = {"question": "q" * 3000, "answer": "a" * 30_000, "summary": "s" * 3000, "category": "c", "title": "t" * 300}
    (tmp_path / "entries.jsonl").write_text(json.dumps(entry))
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.text == "\n\n".join(entry[name] for name in ("question", "answer", "summary"))
    assert document.metadata["category"] == "c"
    assert len(json.dumps(document.metadata)) < 2000 + len(str(tmp_path))
    assert document.metadata["title_path"].startswith("t" * 199 + "… › " + "q" * 199)


def test_an_entrys_extra_is_carried_and_neither_embedded_nor_shown(tmp_path: Path) -> None:
    extra = {"ticket": 4711, "tags": ["oil", None], "by": {"name": "安娜"}}
    (tmp_path / "entries.jsonl").write_text(json.dumps({"question": "Which oil?", "answer": "VG 46.", "Extra": extra}))
    nodes = SentenceSplitter().get_nodes_from_documents(SimpleDirectoryReader(tmp_path).load_data())
    assert [node.metadata["extra"] for node in nodes] == [extra]
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "4711" not in nodes[0].get_content(mode)


TOO_DEEP: Any = {"a": 1}
for _ in range(8):
    TOO_DEEP = {"a": TOO_DEEP}


@pytest.mark.parametrize(
    "extra", ["text", [1], {"a": "x" * 4000}, TOO_DEEP, {"a": math.nan}], ids=["text", "list", "large", "deep", "nan"]
)
def test_an_extra_that_cannot_be_kept_costs_no_entry_and_is_told(tmp_path: Path, extra: Any) -> None:
    with pytest.raises(ValueError, match=r"object|characters|levels|JSON"):
        checked_extra(extra)
    lines = [{"answer": "One."}, {"answer": "Two.", "extra": extra}, {"answer": "Three.", "extra": None}]
    (tmp_path / "entries.jsonl").write_text("\n".join(map(json.dumps, lines)))
    reader = SimpleDirectoryReader(tmp_path)
    documents = reader.load_data()
    assert [document.text for document in documents] == ["One.", "Two.", "Three."]
    assert not any("extra" in document.metadata for document in documents)
    assert "extra" in reader.report.render()


def test_the_model_sees_the_place_of_a_passage_and_not_how_its_file_is_stored() -> None:
    (entry, *_), (page, *_) = read("entries.jsonl"), read("nightly.en.pdf")
    shown = SentenceSplitter().get_nodes_from_documents([entry, page])
    seen = [node.get_metadata_str(MetadataMode.LLM) for node in shown]
    assert seen[0] == "category: doc\nproduct: cargo\ntitle_path: Installing › How do I install ripgrep?"
    assert seen[-1].splitlines()[0].startswith("title_path: How Rust is Made")
    assert seen[-1].splitlines()[1] == "page: 1"
    embedded = shown[-1].get_metadata_str(MetadataMode.EMBED)
    assert embedded == seen[-1].splitlines()[0]


def test_every_format_gives_passages_that_lie_in_their_documents() -> None:
    documents = SimpleDirectoryReader(FILES).load_data()
    by_id = {document.id_: document for document in documents}
    assert len(by_id) == len(documents)
    for node in SentenceSplitter().get_nodes_from_documents(documents):
        assert by_id[node.ref_doc_id or ""].text[node.start_char_idx : node.end_char_idx] == node.text
