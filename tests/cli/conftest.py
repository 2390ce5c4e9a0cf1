"""The program run in this process."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from tests.cli.memory_parts import MemoryParts, Result, Run

from responsa.cli import main
from responsa.cli.parts import Parts


@pytest.fixture
def responsa(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the program: `responsa("ask", "...", parts=..., stdin=...)`."""
    for name in ("LC_ALL", "LANG", "RESPONSA_LANG", "RESPONSA_INDEX", "RESPONSA_API_BASE", "RESPONSA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def run(*words: str, parts: Parts | None = None, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main(words, parts=parts or MemoryParts())
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run
