"""What `responsa ingest` does and reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.memory_parts import MemoryParts, Run


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """A directory of two good files, an empty one and a binary one."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "a.md").write_text("# Harbor\n\nA member can borrow up to eight books.")
    (shelf / "b.txt").write_bytes("会员最多可以借八本书。".encode("gb18030"))
    (shelf / "c.md").write_bytes(b"")
    (shelf / "d.bin").write_bytes(bytes(range(256)) * 8)
    return shelf


def test_counts_go_to_standard_output_and_skipped_files_beside_them(responsa: Run, shelf: Path) -> None:
    done = responsa("ingest", "shelf")
    assert done.code == 0
    assert "Stored 2 passages of 2 documents" in done.out
    assert "2 new, 0 changed; 0 unchanged." in done.out
    assert done.out.endswith("holds 2 passages of 2 documents.\n")
    assert done.err.splitlines()[0] == "Skipped 2 of 4 files:"
    assert f"{shelf}/c.md: the file is empty" in done.err
    assert f"{shelf}/d.bin: " in done.err


def test_the_report_speaks_chinese(responsa: Run, shelf: Path) -> None:
    done = responsa("ingest", "shelf", "--lang", "zh")
    assert "新增 2 个，更新 0 个；0 个没有变化。" in done.out
    assert "4 个文件中跳过了 2 个：" in done.err
    assert "文件是空的" in done.err


def test_what_has_not_changed_is_not_embedded_again(responsa: Run, shelf: Path) -> None:
    parts = MemoryParts()
    responsa("ingest", "shelf", parts=parts)
    (shelf / "a.md").write_text("# Harbor\n\nA member can borrow up to nine books.")
    (shelf / "e.md").write_text("The loan lasts three weeks.")
    done = responsa("ingest", "shelf", parts=parts)
    assert "1 new, 1 changed; 1 unchanged." in done.out
    assert done.out.endswith("holds 3 passages of 3 documents.\n")


def test_files_and_directories_may_be_mixed(responsa: Run, shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "single.md").write_text("The X200 pump needs oil.")
    (shelf / "deeper").mkdir()
    (shelf / "deeper" / "f.md").write_text("Deeper text.")
    assert "3 new" in responsa("ingest", "shelf/a.md", "single.md", "shelf/deeper").out


def test_only_unreadable_files_are_a_failure(responsa: Run, shelf: Path) -> None:
    done = responsa("ingest", "shelf/c.md")
    assert done.code == 1
    assert "Skipped 1 of 1 file:" in done.err


def test_passages_are_cut_to_the_size_asked_for(responsa: Run, tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("One sentence of some words stands here. " * 40)
    few = responsa("ingest", "long.md", parts=MemoryParts())
    many = responsa("ingest", "long.md", "--chunk-size", "32", parts=MemoryParts())
    assert _stored(many.out) > 4 * _stored(few.out)


def test_json_lists_every_file(responsa: Run, shelf: Path) -> None:
    done = responsa("ingest", "shelf", "--json")
    document = json.loads(done.out)
    assert done.err == ""
    assert (document["inserted"], document["passages"], document["index_documents"]) == (2, 2, 2)
    assert [Path(file["path"]).name for file in document["files"]] == ["a.md", "b.txt", "c.md", "d.bin"]
    assert document["files"][0]["skipped"] is None
    assert document["files"][2]["skipped"]["reason"] == "empty"


def test_a_person_who_watches_sees_a_bar_with_rate_and_files(
    responsa: Run, shelf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    done = responsa("ingest", "shelf")
    assert "4/4 files, 2 passages, " in done.err
    assert "/s" in done.err


def _stored(out: str) -> int:
    return int(out.split()[1])


def test_a_files_name_forges_no_lines_and_reaches_no_terminal_raw(responsa: Run, tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "x\nError: forged\x1b[31m.md").write_bytes(b"")
    done = responsa("ingest", "shelf")
    assert not [line for line in done.err.splitlines() if line.startswith("Error")]
    assert "x Error: forged[31m.md: the file is empty" in done.err
    assert "\x1b" not in done.out + done.err
