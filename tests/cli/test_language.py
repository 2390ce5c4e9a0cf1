"""Which language the program speaks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cli.memory_parts import Run

from responsa.cli.app import command
from responsa.cli.language import take_language
from responsa.cli.terminal import Terminal
from responsa.cli.texts import TEXTS


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "zh_CN.UTF-8", "RESPONSA_LANG": "en"}, "en"),
        ({"RESPONSA_LANG": "zh"}, "zh"),
    ],
)
def test_the_environment_decides(environment: dict[str, str], language: str) -> None:
    assert take_language(["ask", "q"], environment) == (language, ["ask", "q"])


@pytest.mark.parametrize(
    ("words", "language", "rest"),
    [
        (["--lang", "zh", "ask", "q"], "zh", ["ask", "q"]),
        (["ask", "--lang=zh", "q"], "zh", ["ask", "q"]),
        (["ask", "q", "--lang", "EN"], "en", ["ask", "q"]),
        (["ask", "--", "--lang", "zh"], "en", ["ask", "--", "--lang", "zh"]),
        (["ask", "--lang"], "en", ["ask", "--lang"]),
    ],
)
def test_the_option_stands_anywhere_and_wins(words: list[str], language: str, rest: list[str]) -> None:
    assert take_language(words, {"LANG": "en_US.UTF-8"}) == (language, rest)


def test_every_text_exists_in_both_languages_with_the_same_values() -> None:
    import re

    for name, texts in TEXTS.items():
        assert texts.keys() == {"en", "zh"}, name
        places = [set(re.findall(r"\{(\w+)", text)) for text in texts.values()]
        assert places[0] == places[1], name


def _walk(program: Any, path: str) -> list[tuple[str, str | None]]:
    texts = [(path, program.help)]
    texts += [(f"{path} {parameter.name}", parameter.help) for parameter in program.params]
    for name, inner in getattr(program, "commands", {}).items():
        texts += _walk(inner, f"{path} {name}")
    return texts


def test_every_command_and_option_is_explained_in_both_languages() -> None:
    english = dict(_walk(command(Terminal("en")), "responsa"))
    chinese = dict(_walk(command(Terminal("zh")), "responsa"))
    assert english.keys() == chinese.keys()
    assert all(english.values())
    assert all(text and not text.isascii() for text in chinese.values())


def test_help_speaks_chinese(responsa: Run) -> None:
    done = responsa("ask", "--help", "--lang", "zh")
    assert done.code == 0
    assert "根据已导入的文档回答问题" in done.out


def test_an_answer_keeps_the_questions_language_whatever_the_program_speaks(responsa: Run) -> None:
    done = responsa("ask", "会员最多可以借几本书？", "--lang", "en")
    assert "\nSources\n" in done.out
