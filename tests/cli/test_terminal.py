"""What a person who watches sees, and what happens when nobody does."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.cli.memory_parts import MemoryParts, Run

from responsa.cli.terminal import printable
from responsa.testing import ScriptedLLM

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


def test_drafts_are_dimmed_and_the_final_answer_is_not(responsa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    llm = ScriptedLLM(["draft", "improved", "final"])
    done = responsa("ask", "How many books?", "--mode", "refine", parts=MemoryParts(llm))
    assert f"{DIM}draft{PLAIN}\n" in done.out
    assert f"{DIM}improved{PLAIN}\n" in done.out
    assert "\nfinal\n" in done.out


def test_attached_markers_are_dimmed(responsa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert f"books.{DIM} [1*]{PLAIN}" in responsa("ask", "How many books?").out


def test_reasoning_is_announced_and_kept_out_of_the_answer(responsa: Run) -> None:
    llm = ScriptedLLM("Eight.", reasoning="Let me think.")
    done = responsa("ask", "How many books?", parts=MemoryParts(llm))
    assert "Let me think" not in done.out + done.err
    assert done.err.count("The model is reasoning") == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\r\nb\tc", "a\nb\tc"), ("a\rb", "ab"), ("\x1b[31mred\x1b[0m", "[31mred[0m"), ("\x9b2J", "2J"), ("‮x", "x")],
)
def test_control_characters_are_taken_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_reader_who_leaves_is_no_stack_trace() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-c", "import sys; from responsa.cli import main; sys.exit(main(['--help']))"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert done.stderr == b""
    assert done.returncode == 1


def test_an_encoding_without_chinese_still_shows_something() -> None:
    command = [sys.executable, "-m", "responsa.cli", "models", "list"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "RESPONSA_LANG": "zh"}
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"\\u540d\\u79f0")


def test_the_program_is_a_module_too_and_tells_its_version() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "responsa.cli", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.strip()) == (0, "0.1.0")


def test_help_loads_nothing_that_only_commands_need() -> None:
    code = (
        "import sys; from responsa.cli import main; main(['ask', '--help']);"
        "heavy = {'asyncio', 'httpx2', 'jinja2', 'lancedb', 'numpy', 'pyarrow', 'rich', 'rjieba'};"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
