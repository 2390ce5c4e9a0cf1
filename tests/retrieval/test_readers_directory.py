"""Which files of a directory are read, in what order, and what is known of them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tracemalloc
from pathlib import Path

import pytest

from responsa import samples
from responsa.retrieval.readers import SimpleDirectoryReader, StringIterableReader
from responsa.schema.errors import InvalidOption


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("b.md", "a.txt", "sub/c.MD", "sub/deep/d.md", "drafts/e.md", ".hidden.md", ".git/f.md"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"text of {name}")
    return tmp_path


def names(reader: SimpleDirectoryReader) -> list[str]:
    return [document.metadata["file_name"] for document in reader.load_data()]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["a.txt", "b.md", "e.md", "c.MD", "d.md"]),
        ({"recursive": False}, ["a.txt", "b.md"]),
        ({"required_exts": [".md"]}, ["b.md", "e.md", "c.MD", "d.md"]),
        ({"required_exts": ["TXT"]}, ["a.txt"]),
        ({"exclude": ["drafts", "d.md"]}, ["a.txt", "b.md", "c.MD"]),
        ({"exclude": ["sub/*"]}, ["a.txt", "b.md", "e.md"]),
        ({"exclude_hidden": False}, [".hidden.md", "a.txt", "b.md", "f.md", "e.md", "c.MD", "d.md"]),
        ({"num_files_limit": 2}, ["a.txt", "b.md"]),
    ],
)
def test_the_files_that_pass_the_filters_are_read_in_order(
    tree: Path, options: dict[str, object], expected: list[str]
) -> None:
    reader = SimpleDirectoryReader(tree, **options)  # type: ignore[arg-type]
    assert names(reader) == expected
    assert [Path(path).name for path in reader.list_resources()] == expected
    assert [Path(file.path).name for file in reader.report.read] == expected


def test_named_files_are_read_after_those_of_the_directory(tree: Path) -> None:
    assert names(SimpleDirectoryReader(tree / "sub", [tree / "a.txt"])) == ["c.MD", "d.md", "a.txt"]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"input_dir": "no/such/directory"},
        {"input_dir": __file__},
        {"input_files": [__file__], "max_file_bytes": 0},
        {"input_files": [__file__], "num_files_limit": 0},
        {"input_files": [__file__], "encoding": "utf-99"},
    ],
)
def test_what_makes_no_sense_is_refused_at_once(options: dict[str, object]) -> None:
    with pytest.raises(InvalidOption):
        SimpleDirectoryReader(**options)  # type: ignore[arg-type]


def test_an_empty_path_is_the_working_directory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    assert names(SimpleDirectoryReader("")) == names(SimpleDirectoryReader("."))


def test_a_document_knows_its_file(tree: Path) -> None:
    (document,) = SimpleDirectoryReader(input_files=[tree / "sub" / ".." / "b.md"]).load_data()
    assert document.metadata == {
        "file_path": str(tree / "b.md"),
        "file_name": "b.md",
        "file_type": "text/markdown",
        "file_hash": hashlib.sha256(b"text of b.md").hexdigest(),
        "title": "b",
    }


def test_identities_follow_from_the_path_and_stay_when_the_content_changes(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {document.metadata["file_path"]: document for document in SimpleDirectoryReader(tree).load_data()}
    (tree / "b.md").write_text("other text")
    monkeypatch.chdir(tree.parent)
    after = {document.metadata["file_path"]: document for document in SimpleDirectoryReader(tree.name).load_data()}
    assert {path: document.id_ for path, document in before.items()} == {
        path: document.id_ for path, document in after.items()
    }
    assert len({document.id_ for document in after.values()}) == len(after)
    changed = [path for path in after if before[path].metadata["file_hash"] != after[path].metadata["file_hash"]]
    assert changed == [str(tree / "b.md")]


def test_unchanged_files_are_passed_over_before_they_are_parsed(tree: Path) -> None:
    known = {str(tree / "a.txt"): hashlib.sha256(b"text of a.txt").hexdigest(), str(tree / "b.md"): "another"}
    reader = SimpleDirectoryReader(tree, recursive=False)
    documents = list(reader.iter_data(is_unchanged=lambda path, file_hash: known.get(path) == file_hash))
    assert [document.metadata["file_name"] for document in documents] == ["b.md"]
    assert [file.unchanged for file in reader.report.files] == [True, False]
    assert reader.report.files[0].render() == f"{tree / 'a.txt'}: unchanged"
    assert reader.report.files[0].render("zh") == f"{tree / 'a.txt'}：没有变化"


def test_further_metadata_comes_from_the_users_own_function(tree: Path) -> None:
    def own(path: str) -> dict[str, str]:
        return {"category": path[-2:], "title": "mine"}

    first, second = SimpleDirectoryReader(tree, recursive=False, file_metadata=own).load_data()
    assert [first.metadata["category"], second.metadata["category"]] == ["xt", "md"]
    assert first.metadata["title"] == "mine"


def test_a_named_encoding_is_used_for_every_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("été".encode("cp850"))
    (document,) = SimpleDirectoryReader(tmp_path, encoding="cp850").load_data()
    assert document.text == "été"
    reader = SimpleDirectoryReader(tmp_path, encoding="utf-8")
    assert reader.load_data() == []
    assert "the text is not utf-8" in reader.report.render()


def test_reading_goes_file_by_file(tree: Path) -> None:
    reader = SimpleDirectoryReader(tree, recursive=False)
    reading = reader.iter_data()
    next(reading)
    (tree / "b.md").write_text("written after the first file was read")
    assert next(reading).text == "written after the first file was read"
    assert len(reader.report.files) == 1


def test_memory_does_not_grow_with_the_number_of_files(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number:02}.md").write_text("A sentence of some words. " * 10_000)
    reader = SimpleDirectoryReader(tmp_path)
    next(reader.iter_data())  # whatever is loaded once is loaded now
    tracemalloc.start()
    try:
        read = sum(len(document.text) for document in reader.iter_data())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert read == 100 * 26 * 10_000
    assert peak < read / 4


def test_a_name_that_is_no_utf8_is_read_and_shown(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.md"
    try:
        descriptor = os.open(name, os.O_CREAT | os.O_WRONLY)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    os.write(descriptor, b"text")
    os.close(descriptor)
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.metadata["file_name"] == "caf\ufffd.md"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("page.txt", "<!DOCTYPE html><html><body><p>text</p></body></html>", "text/html"),
        ("page", '\n<?xml version="1.0"?><!-- made by hand -->\n<html><body>text</body></html>', "text/html"),
        ("part.html", "<p>text</p>", "text/html"),
        ("notes.pdf", "This is no PDF but text that mentions %PDF-1.7 in passing.", "text/plain"),
        ("music.txt", "ID3 tags are explained here.", "text/plain"),
        ("entry.txt", '{"question": "Why?", "answer": "Because."}', "application/jsonl"),
        ("entries.json", '[{"Question": "Why?", "Answer": "Because."}]', "application/jsonl"),
        ("settings.json", '{"name": "value"}', "text/plain"),
        ("README", "plain words", "text/plain"),
        ("page.markdown", "# Title", "text/markdown"),
    ],
)
def test_what_a_file_is_follows_from_its_content(tmp_path: Path, name: str, content: str, kind: str) -> None:
    (tmp_path / name).write_text(content)
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.metadata["file_type"] == kind


def test_pdf_and_word_files_are_known_by_their_content(tmp_path: Path) -> None:
    files = Path(__file__).parent.parent / "data" / "documents"
    (tmp_path / "a.md").write_bytes((files / "nightly.en.pdf").read_bytes())
    (tmp_path / "b").write_bytes((files / "ownership.zh.docx").read_bytes())
    kinds = {
        document.metadata["file_type"].rpartition(".")[2] for document in SimpleDirectoryReader(tmp_path).load_data()
    }
    assert kinds == {"application/pdf", "document"}


def test_the_report_has_a_line_for_each_file_in_both_languages(tree: Path) -> None:
    (tree / "c.md").write_text("")
    reader = SimpleDirectoryReader(tree, recursive=False)
    reader.load_data()
    assert reader.report.render() == (
        f"{tree / 'a.txt'}: read, 1 document, 13 characters\n"
        f"{tree / 'b.md'}: read, 1 document, 12 characters\n"
        f"{tree / 'c.md'}: the file is empty"
    )
    assert reader.report.render("zh") == (
        f"{tree / 'a.txt'}：已读取，1 个文档，13 个字符\n"
        f"{tree / 'b.md'}：已读取，1 个文档，12 个字符\n"
        f"{tree / 'c.md'}：文件是空的"
    )
    assert reader.report.documents == 2
    assert [failure.reason for failure in reader.report.failures] == ["empty"]


def test_the_sample_documents_are_the_same_pages_in_both_languages() -> None:
    english, chinese = (
        {Path(path).relative_to(samples.path() / language) for path in reader.list_resources()}
        for language, reader in ((name, SimpleDirectoryReader(samples.path() / name)) for name in ("en", "zh"))
    )
    assert english == chinese
    assert len(english) == 32
    reader = SimpleDirectoryReader(samples.path())
    assert len(reader.load_data()) == 64
    assert not reader.report.skipped


def test_reading_in_a_coroutine_gives_the_same_documents(tree: Path) -> None:
    reader = SimpleDirectoryReader(tree)
    assert asyncio.run(reader.aload_data()) == reader.load_data()


def test_documents_are_made_by_hand_from_texts() -> None:
    documents = StringIterableReader().load_data(["one", "two"], metadata={"title": "Notes"})
    assert [document.text for document in documents] == ["one", "two"]
    assert documents[1].metadata == {"title": "Notes"}
    again = StringIterableReader().load_data(["two"])
    assert again[0].id_ == documents[1].id_ != documents[0].id_
    assert StringIterableReader().load_data(["one"], ids=["mine"])[0].id_ == "mine"
    with pytest.raises(InvalidOption):
        StringIterableReader().load_data(["one"], ids=[])
