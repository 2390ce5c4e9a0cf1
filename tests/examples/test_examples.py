"""Every example runs as it stands against a real server."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from responsa.local.llama_server import LlamaServer

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "ask_documents.py": r"1 call\b|calls",
    "conversation.py": r"(?s)0 messages so far.*> And for how long\?",
    "custom_mode.py": r"answer",
    "typed_answer.py": r"LoanRule\(books=\d+, weeks=\d+\)",
    "your_own_passages.py": r"(?s)compact: 1 calls planned, 1 made.*refine: 3 calls planned, 3 made.*tree_summarize",
}


def test_every_example_is_told_of_and_tested() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == set(SHOWN)
    assert set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text(encoding="utf-8"))) == scripts


@pytest.mark.real_server
@pytest.mark.parametrize("name", SHOWN)
def test_an_example_runs(name: str, llama_server: LlamaServer, tmp_path: Path) -> None:
    environment = os.environ | {"API_BASE": llama_server.url, "PYTHONUTF8": "1"}
    command = [sys.executable, str(EXAMPLES / name)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert re.search(SHOWN[name], done.stdout), done.stdout
