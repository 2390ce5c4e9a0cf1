"""Puts the commands' help into the pages on them: `python docs/cli_help.py`. A test runs it and expects no change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from responsa.cli.app import command
from responsa.cli.terminal import Terminal

PAGES = {Path(__file__).parent / "cli.md": "en", Path(__file__).parent / "cli.zh-CN.md": "zh"}
COLUMNS = 80
_BLOCK = re.compile(r"(<!-- help: (?P<path>[\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def commands(program: Any, path: str = "responsa") -> Iterator[tuple[str, str]]:
    """Yield the path and help of a command and of all commands below it."""
    context = program.make_context(path, [], resilient_parsing=True, terminal_width=COLUMNS, obj={})
    yield path, program.get_help(context)
    for name, inner in getattr(program, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def filled(page: str, language: str) -> str:
    """Return the page with the help of now, in its language, in its blocks."""
    helps = dict(commands(command(Terminal(language))))
    return _BLOCK.sub(lambda block: f"{block[1]}```text\n{helps[block['path']]}\n```\n{block[3]}", page)


def documented(page: str) -> list[str]:
    """Return the paths of the commands whose help stands on the page."""
    return [block["path"] for block in _BLOCK.finditer(page)]


if __name__ == "__main__":
    for path, language in PAGES.items():
        path.write_text(filled(path.read_text(encoding="utf-8"), language), encoding="utf-8")
