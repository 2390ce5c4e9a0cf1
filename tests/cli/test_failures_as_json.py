"""With `--json` standard output is one JSON document whatever goes wrong, in any encoding."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.memory_parts import MemoryParts, Run
from tests.cli.test_bad_input import parts_that_fail

from responsa.testing import ScriptedLLM


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (("ask", "--json"), 2, "wrong_use"),
        (("ask", "q", "--jsonn", "--json"), 2, "wrong_use"),
        (("search", "q", "--top-k", "0", "--json"), 2, "wrong_use"),
        (("models", "fetch", "smollm2-135m", "--json"), 2, "wrong_use"),
        (("--lang", "fr", "search", "q", "--json"), 2, "invalid_option"),
        (("search", " ", "--json"), 2, "empty_question"),
        (("search", "q", "--index", "missing", "--json"), 1, "index_not_found"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_failure_is_a_document_with_a_code(
    responsa: Run, words: tuple[str, ...], exit_code: int, code: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESPONSA_LANG", language)
    done = responsa(*words)
    assert done.code == exit_code
    error = json.loads(done.out)["error"]
    assert error["code"] == code
    assert error["message"] in done.err


@pytest.mark.parametrize(
    ("raised", "exit_code", "code"),
    [(KeyboardInterrupt(), 130, "interrupted"), (PermissionError(13, "Permission denied", "x"), 1, "system_error")],
)
def test_interrupts_and_the_systems_failures_are_documents_too(
    responsa: Run, raised: BaseException, exit_code: int, code: str
) -> None:
    done = responsa("ask", "How many books?", "--json", parts=parts_that_fail("llm", raised))
    assert (done.code, json.loads(done.out)["error"]["code"]) == (exit_code, code)


def test_after_a_double_dash_json_is_a_word(responsa: Run) -> None:
    done = responsa("search", "--index", "missing", "--", "--json")
    assert (done.code, done.out) == (1, "")


def test_what_a_terminal_would_obey_is_escaped(responsa: Run) -> None:
    text = "Eight \x1b[31m \x9b2J \u202e books \ud83d."
    done = responsa("ask", "How many books?", "--json", parts=MemoryParts(ScriptedLLM(text)))
    assert not {"\x1b", "\x9b", "\u202e", "\ud83d"} & set(done.out)
    assert json.loads(done.out)["text"] == text


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "gb18030", "utf-8"])
def test_the_document_is_json_in_every_encoding(encoding: str) -> None:
    done = _run("search", "q", "--index", "没有 😀 \u0e01", "--json", env={"PYTHONIOENCODING": encoding})
    assert done.returncode == 1
    assert json.loads(done.stdout.decode(encoding))["error"]["details"]["path"] == "没有 😀 \u0e01"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_under_standard_output_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = _run("search", "q", "--index", "nowhere", "--json", stdout=full)
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1] == "Error: No space left on device"
    assert b"Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_outputs_that_are_closed_are_no_stack_trace(closed: str) -> None:
    command = f'"{sys.executable}" -m responsa.cli search q --index nowhere --json {closed}'
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_a_reader_who_leaves_before_an_error_is_no_stack_trace() -> None:
    read, write = os.pipe()
    os.close(read)
    done = _run("search", "q", "--index", "nowhere", "--json", stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_warnings_are_remarks_of_one_line_without_a_stack_trace(responsa: Run) -> None:
    class Warns(MemoryParts):
        def llm(self, choice: Any) -> Any:
            try:
                raise ValueError("inner")
            except ValueError:
                logging.getLogger("responsa.test").warning("bad\n\x1b[31mfile", exc_info=True)
            return super().llm(choice)

    done = responsa("ask", "How many books?", parts=Warns())
    assert done.code == 0
    assert "bad [31mfile\n" in done.err
    assert "Traceback" not in done.err
    assert logging.getLogger("responsa").handlers == []


def _run(*words: str, env: dict[str, str] | None = None, stdout: Any = subprocess.PIPE) -> Any:
    environment = {**os.environ, "PYTHONUTF8": "1", **(env or {})}
    for name in ("RESPONSA_LANG", "LC_ALL", "LANG"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "responsa.cli", *words]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, env=environment, check=False)
