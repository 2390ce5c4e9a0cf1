"""What a Word file's paragraphs become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docx
import pytest

from responsa.retrieval.readers import SimpleDirectoryReader
from responsa.schema.nodes import Document

NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


@pytest.fixture
def word() -> Any:
    return docx.Document()


def read(word: Any, directory: Path) -> Document:
    word.save(str(directory / "file.docx"))
    (document,) = SimpleDirectoryReader(directory).load_data()
    return document


def xml(name: str, rest: str) -> Any:
    from docx.oxml import parse_xml

    return parse_xml(f'<w:{name} xmlns:w="{NAMESPACE}"{rest}')


def test_headings_lists_and_tables_keep_their_structure(word: Any, tmp_path: Path) -> None:
    word.add_heading("Book", 0)
    word.add_heading("Part", 1)
    word.add_heading("Chapter", 2)
    word.add_paragraph("First line\nsecond line")
    word.add_paragraph("one", style="List Bullet")
    word.add_paragraph("two", style="List Number")
    table = word.add_table(2, 2)
    for cell, text in zip((cell for row in table.rows for cell in row.cells), "abcd", strict=True):
        cell.text = text
    document = read(word, tmp_path)
    assert document.text == (
        "# Book\n\n# Part\n\n## Chapter\n\nFirst line\nsecond line\n\n- one\n- two\n\n"
        "| a | b |\n| --- | --- |\n| c | d |"
    )


def test_the_title_is_the_only_top_heading_then_the_files_own(word: Any, tmp_path: Path) -> None:
    word.core_properties.title = "Own title"
    word.add_paragraph("text")
    assert read(word, tmp_path).metadata["title"] == "Own title"
    word.add_heading("Heading", 1)
    assert read(word, tmp_path).metadata["title"] == "Heading"


def test_a_style_based_on_a_heading_and_an_outline_level_are_headings(word: Any, tmp_path: Path) -> None:
    own = word.styles.add_style("House style", 1)
    own.base_style = word.styles["Heading 3"]
    word.add_paragraph("By style", style="House style")
    paragraph = word.add_paragraph("By level")
    paragraph._p.get_or_add_pPr().append(xml("outlineLvl", ' w:val="1"/>'))
    assert read(word, tmp_path).text == "### By style\n\n## By level"


def test_neighbouring_code_paragraphs_are_one_fence(word: Any, tmp_path: Path) -> None:
    word.styles.add_style("Source Code", 1)
    for line in ("if x:", "    y()", "", "```"):
        word.add_paragraph(line, style="Source Code")
    word.add_paragraph("after")
    assert read(word, tmp_path).text == "````\nif x:\n    y()\n\n```\n````\n\nafter"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<w:ins><w:r><w:t>new</w:t></w:r></w:ins>", "text new"),
        ("<w:del><w:r><w:delText>old</w:delText></w:r></w:del>", "text"),
        ("<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>", "text"),
        ("<w:r><w:instrText>HYPERLINK</w:instrText></w:r>", "text"),
        ("<w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink>", "text link"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t></w:r>", "text a b-c"),
        ("<w:sdt><w:sdtContent><w:r><w:t>field</w:t></w:r></w:sdtContent></w:sdt>", "text field"),
    ],
)
def test_only_what_stands_on_the_page_is_read(word: Any, tmp_path: Path, markup: str, text: str) -> None:
    paragraph = word.add_paragraph("text ")
    name, rest = markup[3:].split(">", 1)
    paragraph._p.append(xml(name, f">{rest}"))
    assert read(word, tmp_path).text == text


def test_a_table_in_a_cell_and_a_box_in_a_paragraph_are_read_once(word: Any, tmp_path: Path) -> None:
    table = word.add_table(2, 2)
    for cell, text in zip((cell for row in table.rows for cell in row.cells), "abcd", strict=True):
        cell.text = text
    inner = table.cell(0, 0).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "inner", "table"
    box = xml("r", "><w:pict><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>")
    table.cell(1, 1).paragraphs[0]._p.append(box)
    lines = read(word, tmp_path).text.split("\n")
    assert lines == ["| a inner table | b |", "| --- | --- |", "| c | d box |"]


def test_a_file_of_too_many_tags_is_refused(word: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("responsa.retrieval.readers.docx.MOST_TAGS", 10)
    word.add_paragraph("text")
    word.save(str(tmp_path / "file.docx"))
    reader = SimpleDirectoryReader(tmp_path)
    assert reader.load_data() == []
    assert "more than 10 tags" in reader.report.render()
