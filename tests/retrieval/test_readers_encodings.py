"""Text in any common encoding, with its mark or without."""

from __future__ import annotations

from pathlib import Path

import pytest

from responsa.retrieval.readers import SimpleDirectoryReader

CHINESE = "第一章\n\n所有权是一组控制程序如何管理内存的规则。所有的程序都必须管理其运行时使用内存的方式。\n"
TRADITIONAL = "所有權是一組控制程式如何管理記憶體的規則。所有的程式在執行時都必須管理它們使用電腦記憶體的方式。\n" * 3
JAPANESE = (
    "所有権とはプログラムがメモリを管理する方法を制御する一連の規則です。実行中にメモリの使い方を管理します。\n" * 3
)
KOREAN = "소유권은 프로그램의 메모리 관리법을 지배하는 규칙 모음입니다. 모든 프로그램은 메모리를 관리해야 합니다.\n" * 3
RUSSIAN = "Владение это набор правил, которые определяют, как программа управляет памятью компьютера.\n" * 3
FRENCH = "La propriété est un ensemble de règles. Chaque élève a déjà été reçu à Genève, où l'été était très chaud.\n"
ENGLISH = "Ownership is a set of rules.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (ENGLISH, "ascii"),
        (CHINESE, "utf-8"),
        (CHINESE, "utf-8-sig"),
        (CHINESE, "gb18030"),
        (CHINESE, "gbk"),
        (CHINESE, "utf-16"),
        (CHINESE, "utf-16-le"),
        (CHINESE, "utf-16-be"),
        (CHINESE, "utf-32"),
        ("中文测试", "gbk"),
        ("你好", "gbk"),
        ("第1章 安装\n请先安装软件。", "gbk"),
        (CHINESE * 1500, "gb18030"),
        (ENGLISH, "utf-16-le"),
        (ENGLISH, "utf-16-be"),
        (TRADITIONAL, "big5"),
        (TRADITIONAL, "gb18030"),
        (TRADITIONAL, "utf-16-le"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "utf-16-be"),
        (KOREAN, "euc_kr"),
        (KOREAN, "utf-16-le"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (FRENCH, "cp1252"),
        (FRENCH, "latin-1"),
    ],
)
def test_text_is_read_in_its_encoding(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "page.txt").write_bytes(text.encode(encoding))
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.text == text


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system_become_one(tmp_path: Path, line_end: str) -> None:
    (tmp_path / "page.txt").write_bytes(f"one{line_end}two{line_end}".encode())
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.text == "one\ntwo\n"


def test_a_few_broken_characters_are_replaced_and_noted(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_bytes(b"\xef\xbb\xbf" + "所有权".encode() * 200 + b"\xff")
    reader = SimpleDirectoryReader(tmp_path)
    (document,) = reader.load_data()
    assert document.text == "所有权" * 200 + "\ufffd"
    assert reader.report.render().endswith("; 1 characters could not be decoded")
    assert reader.report.render("zh").endswith("；有 1 个字符无法解码")


def test_a_few_control_characters_become_spaces(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_bytes(b"words " * 100 + b"\x00\x07end\x0cpage")
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.text.endswith("words   end\x0cpage")


@pytest.mark.parametrize(
    ("encoding", "declared"), [("gb18030", "gb2312"), ("cp1251", "windows-1251"), ("utf-8", "gbk")]
)
def test_a_page_is_read_in_the_encoding_it_declares_unless_it_is_utf8(
    tmp_path: Path, encoding: str, declared: str
) -> None:
    text = "所有权" if encoding != "cp1251" else "Да"
    page = f"<html><head><meta charset={declared}></head><body><p>{text}</p></body></html>"
    (tmp_path / "page.html").write_bytes(page.encode(encoding))
    (document,) = SimpleDirectoryReader(tmp_path).load_data()
    assert document.text == text
