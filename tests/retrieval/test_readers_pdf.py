"""How the lines of a PDF's pages become text."""

from __future__ import annotations

from pathlib import Path

import pytest

from responsa.retrieval.readers import pdf
from responsa.retrieval.readers.parts import Part, SourceFile

LONG = "这一行写满了整页的宽度所以它只是换行而已"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([LONG, "下一行"], f"{LONG}下一行"),
        (["短行", LONG, "末"], f"短行\n{LONG}末"),
        ([LONG, "English"], f"{LONG}\nEnglish"),
        (["A line of English prose", "and the next"], "A line of English prose\nand the next"),
        (["", "a", "", "b", ""], "a\n\nb"),
        ([], ""),
    ],
)
def test_full_chinese_lines_are_joined_and_others_kept(lines: list[str], text: str) -> None:
    assert pdf._joined(lines) == text


def test_lines_at_the_edges_of_most_pages_are_furniture_whatever_their_numbers() -> None:
    pages = [["Guide", f"Page {number}", f"text {'x' * number}", "more", "end", "(c) 2024"] for number in range(6)]
    assert pdf._furniture(pages) == {"Guide", "Page #", "(c) #", "end"}
    assert pdf._furniture(pages[:3]) == set()
    assert pdf._furniture([[str(number) * 3, "a" * number] for number in range(1, 9)]) == {"#"}


def test_a_page_is_cut_where_its_bookmarks_stand() -> None:
    lines = ["rest of the part before", "1.1 First", "text", "1.2 Second", "text"]
    bookmarks = [(1, 1, "First"), (1, 1, "Second"), (1, 2, "Not on the page")]
    before = [(0, "One"), (1, "Zeroth")]
    assert list(pdf._sections(lines, bookmarks, before)) == [
        (lines[:1], before),
        (lines[1:3], [(0, "One"), (1, "First")]),
        (lines[3:], [(0, "One"), (1, "Second"), (2, "Not on the page")]),
    ]


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("A guide", "A guide"),
        ("  A\n guide ", "A guide"),
        ("Microsoft Word - report.docx", ""),
        ("report_final.pdf", ""),
        ("untitled", ""),
        (None, ""),
    ],
)
def test_titles_that_name_a_file_or_program_are_none(title: str | None, kept: str) -> None:
    assert pdf._title({"Title": title}) == kept


@pytest.mark.parametrize(("numbers", "text"), [([3], "3"), ([1, 2, 3, 7], "1-3, 7"), ([1, 3, 4], "1, 3-4")])
def test_pages_without_text_are_named_as_ranges(numbers: list[int], text: str) -> None:
    assert pdf._ranges(numbers) == text


NIGHTLY = Path(__file__).parents[1] / "data" / "documents" / "nightly.en.pdf"


def read_nightly(capped: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> tuple[list[Part], list[tuple[str, str]]]:
    for name, limit in capped.items():
        monkeypatch.setattr(pdf, name, limit)
    source = SourceFile("nightly.en.pdf", "nightly.en.pdf", NIGHTLY.read_bytes(), 10**9)
    return list(pdf.read_pdf(source)), [(note.reason, note.detail) for note in source.notes]


def test_what_is_read_of_a_pdf_is_limited_and_what_is_left_out_told(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, notes = read_nightly({}, monkeypatch)
    assert notes == []
    pages = whole[-1].metadata["page"]
    cut, notes = read_nightly({"MOST_PAGE_CHARACTERS": 100}, monkeypatch)
    assert notes[0] == ("pages_cut", f"1-{pages} (100)" if pages > 1 else "1 (100)")
    assert all(len(part.text) <= 100 for part in cut)
    monkeypatch.undo()
    _, notes = read_nightly({"MOST_CHARACTERS": 1}, monkeypatch)
    assert notes == ([("pages_left_out", "1")] if pages > 1 else [])


def test_only_so_many_bookmarks_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, _ = read_nightly({"MOST_BOOKMARKS": 0}, monkeypatch)
    assert {part.metadata["title_path"] for part in parts} == {parts[0].metadata["title"]}
