"""What cannot be read is one clear line, never a stop and never content."""

from __future__ import annotations

import gzip
import io
import os
import random
import zipfile
from pathlib import Path

import pytest

from responsa.retrieval.readers import SimpleDirectoryReader
from responsa.schema.error_texts import READING_REASONS

FILES = Path(__file__).parent.parent / "data" / "documents"
LIMIT = 50_000


def docx(**entries: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), data)
    return content.getvalue()


def noise(size: int) -> bytes:
    return random.Random(7).randbytes(size)


BODY = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>%s</w:body></w:document>'
TABLE, TABLE_END = b"<w:tbl><w:tr><w:tc>", b"</w:tc></w:tr></w:tbl>"
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 10) for letter in range(ord("b"), ord("k"))
)
PDF = (FILES / "nightly.en.pdf").read_bytes()

BAD_FILES = {
    "empty.md": (b"", "empty"),
    "blank.txt": (b" \n\t\n", "empty"),
    "marked.txt": (b"\xef\xbb\xbf", "no_text"),
    "scanned.pdf": ((FILES / "scanned.pdf").read_bytes(), "scanned"),
    "encrypted.pdf": ((FILES / "encrypted.pdf").read_bytes(), "encrypted"),
    "cut.pdf": (PDF[:700], "damaged"),
    "only-the-head.pdf": (b"%PDF-1.7\n", "damaged"),
    "not-really.docx": (b"PK\x03\x04" + noise(500), "damaged"),
    "nothing-inside.docx": (docx(word__styles_xml=b"<x/>"), "damaged"),
    "no-xml.docx": (docx(word__document_xml=b"<w:document"), "damaged"),
    "empty.docx": (docx(word__document_xml=BODY % b""), "no_text"),
    "bomb.docx": (docx(word__document_xml=b" " * 10 * LIMIT), "unpacks_too_large"),
    "entities.docx": (docx(word__document_xml=ENTITIES + b"]><x>&j;</x>"), "damaged"),
    "protected.docx": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + noise(100) + "EncryptedPackage".encode("utf-16-le"),
        "encrypted",
    ),
    "old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + noise(100), "unsupported"),
    "table.xlsx": (docx(xl__workbook_xml=b"<x/>"), "unsupported"),
    "writer.odt": (docx(mimetype=b"application/vnd.oasis.opendocument.text"), "unsupported"),
    "letter.rtf": (b"{\\rtf1 Hello}", "unsupported"),
    "archive.zip": (docx(readme=b"text"), "binary"),
    "picture.md": (b"\x89PNG\r\n\x1a\n" + noise(500), "binary"),
    "photo.txt": (b"\xff\xd8\xff\xe0" + noise(500), "binary"),
    "film.md": (b"\0\0\0\x18ftypmp42" + noise(500), "binary"),
    "program.txt": (b"\x7fELF" + noise(500), "binary"),
    "noise.md": (noise(5000), "binary"),
    "controls.txt": (b"\x01\x02\x03\x04text" * 50, "binary"),
    "unknown.txt": (bytes(byte | 0x80 for byte in noise(4000)), "unknown_encoding"),
    "bomb.txt.gz": (gzip.compress(b" a" * LIMIT), "unpacks_too_large"),
    "cut.txt.gz": (gzip.compress(noise(5000))[:2000], "damaged"),
    "twice.gz": (gzip.compress(gzip.compress(b"text")), "binary"),
    "large.txt": (b"text " * LIMIT, "too_large"),
    "scripts.html": (b"<html><body><script>alert(1)</script><nav>Home</nav></body></html>", "no_text"),
    "log.jsonl": (b'{"level": "info"}\n{"level": "error"}\n', "no_entries"),
    "broken.jsonl": (b'{"question": \n' * 5, "no_entries"),
    "deep.html": (b"<html><body>" + b"<div>" * 5000 + b"text", "too_nested"),
    "deep.docx": (docx(word__document_xml=BODY % (b"<w:sdt>" * 1500 + b"</w:sdt>" * 1500)), "too_nested"),
    "tables.docx": (docx(word__document_xml=BODY % (TABLE * 1000 + TABLE_END * 1000)), "too_nested"),
    "deep.jsonl": (b"[" * 40_000, "no_entries"),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bad")
    for name, (content, _) in BAD_FILES.items():
        (directory / name).write_bytes(content)
    (directory / "good.md").write_text("# Good\n\ntext")
    return directory


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_gives_its_reason_and_no_document(directory: Path, name: str) -> None:
    reader = SimpleDirectoryReader(input_files=[directory / name], max_file_bytes=LIMIT)
    assert reader.load_data() == []
    (line,) = reader.report.skipped
    assert line.failure is not None
    assert line.failure.reason == BAD_FILES[name][1], line.render()
    for language in ("en", "zh"):
        text = line.render(language)
        assert "\n" not in text
        assert "{" not in text
        assert text.startswith(str(directory / name))
    assert READING_REASONS[line.failure.reason]["en"].split("{")[0] in line.render()


def test_bad_files_stop_no_other(directory: Path) -> None:
    reader = SimpleDirectoryReader(directory, max_file_bytes=LIMIT)
    assert [document.metadata["file_name"] for document in reader.load_data()] == ["good.md"]
    assert len(reader.report.skipped) == len(BAD_FILES)
    assert len(reader.report.read) == 1


@pytest.mark.parametrize("size", range(0, len(PDF), 997))
def test_a_pdf_cut_anywhere_gives_what_it_has_or_its_reason(tmp_path: Path, size: int) -> None:
    (tmp_path / "cut.pdf").write_bytes(PDF[:size])
    reader = SimpleDirectoryReader(tmp_path)
    documents = reader.load_data()
    assert len(reader.report.files) == 1
    assert bool(documents) != bool(reader.report.skipped)


@pytest.mark.parametrize("name", ["ownership.zh.docx", "installing.zh.md.gz", "nightly.zh.pdf", "installing.en.html"])
def test_a_file_with_changed_bytes_never_raises(tmp_path: Path, name: str) -> None:
    content = (FILES / name).read_bytes()
    chance = random.Random(name)
    for number in range(25):
        changed = bytearray(content)
        for _ in range(chance.randrange(1, 40)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        (tmp_path / f"{number:02}-{name}").write_bytes(changed)
    reader = SimpleDirectoryReader(tmp_path)
    reader.load_data()
    assert len(reader.report.files) == 25


def test_a_missing_file_is_a_line(tmp_path: Path) -> None:
    reader = SimpleDirectoryReader(input_files=[tmp_path / "nowhere.md"])
    assert reader.load_data() == []
    assert reader.report.render() == f"{tmp_path / 'nowhere.md'}: there is no such file"
    assert reader.report.render("zh") == f"{tmp_path / 'nowhere.md'}：没有这个文件"


def test_a_pipe_is_a_line_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    reader = SimpleDirectoryReader(tmp_path)
    assert reader.load_data() == []
    assert [line.failure.reason for line in reader.report.skipped if line.failure] == ["special_file"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_a_line(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("text")
    (tmp_path / "secret.md").chmod(0)
    reader = SimpleDirectoryReader(tmp_path)
    assert reader.load_data() == []
    assert [line.failure.reason for line in reader.report.skipped if line.failure] == ["unreadable"]


def test_a_directory_where_a_file_was_named_is_a_line(tmp_path: Path) -> None:
    reader = SimpleDirectoryReader(input_files=[tmp_path])
    assert reader.load_data() == []
    assert [line.failure.reason for line in reader.report.skipped if line.failure] == ["directory"]


def test_links_in_circles_to_nowhere_and_to_the_outside_are_lines(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside.md"
    inside.mkdir()
    outside.write_text("outside")
    (inside / "page.md").write_text("page")
    (inside / "alias.md").symlink_to("page.md")
    (inside / "circle").symlink_to(".")
    (inside / "self").symlink_to("self")
    (inside / "broken").symlink_to("nothing")
    (inside / "out.md").symlink_to(outside)
    reader = SimpleDirectoryReader(inside)
    assert sorted(document.metadata["file_name"] for document in reader.load_data()) == ["alias.md", "page.md"]
    reasons = {Path(line.path).name: line.failure.reason for line in reader.report.skipped if line.failure}
    assert reasons == {"circle": "link_loop", "self": "link_loop", "broken": "broken_link", "out.md": "link_outside"}


def test_a_parser_that_fails_unexpectedly_is_its_files_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(source: object) -> object:
        raise ZeroDivisionError("no text to divide")

    caplog.set_level("INFO", "responsa")
    monkeypatch.setattr("responsa.retrieval.readers.text.read_markdown", fail)
    (tmp_path / "a.md").write_text("text")
    (tmp_path / "b.txt").write_text("text")
    reader = SimpleDirectoryReader(tmp_path)
    assert len(reader.load_data()) == 1
    assert "ZeroDivisionError: no text to divide" in reader.report.skipped[0].render()
    assert "a.md" in caplog.text


@pytest.mark.parametrize(("package", "name"), [("pypdfium2", "nightly.en.pdf"), ("lxml", "installing.en.html")])
def test_a_missing_package_is_a_line_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, package: str, name: str
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    reader = SimpleDirectoryReader(input_files=[FILES / name])
    assert reader.load_data() == []
    assert f"{package} is needed to read it; run: pip install 'responsa[documents]'" in reader.report.render()
