"""`docs/cli.md` holds the help of every command, as it is now."""

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
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    program = cli_help["command"](cli_help["Terminal"]("en"))
    assert sorted(cli_help["documented"](page)) == sorted(path for path, _ in cli_help["commands"](program))


def test_the_help_on_the_page_is_the_help_of_now(cli_help: dict[str, Any]) -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    assert cli_help["filled"](page) == page, "run: python docs/cli_help.py"
