"""The pages on the terminal program hold the help of every command, as it is now."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def cli_help(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of the script that fills the page, in a terminal of any width and without settings."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("RESPONSA_INDEX", raising=False)
    return runpy.run_path(str(DOCS / "cli_help.py"))


def test_every_command_is_documented(cli_help: dict[str, Any]) -> None:
    program = cli_help["command"](cli_help["Terminal"]("en"))
    commands = sorted(path for path, _ in cli_help["commands"](program))
    for page in cli_help["PAGES"]:
        assert sorted(cli_help["documented"](page.read_text(encoding="utf-8"))) == commands


def test_the_help_on_the_pages_is_the_help_of_now(cli_help: dict[str, Any]) -> None:
    for path, language in cli_help["PAGES"].items():
        page = path.read_text(encoding="utf-8")
        assert cli_help["filled"](page, language) == page, "run: python docs/cli_help.py"
