"""A llama-server program in place of the packaged server: it gets the settings, downloads, and is gone afterwards."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.local.test_llama_server import eventually, get, is_alive
from tests.older_llama_server import older_binary

from responsa.local import HubFile, LlamaServer
from responsa.schema.errors import InvalidOption, LocalServerFailed, ServerProgramNotFound

HUB_FILE = HubFile("owner/model-GGUF", "model-q4_k_m.gguf")
STAND_IN = Path(__file__).with_name("stand_in_server.py")


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the program was given; the program stands on the PATH as `llama-server`."""
    program = tmp_path / "bin" / "llama-server"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setenv("STAND_IN_SEEN", str(tmp_path / "seen.json"))
    return tmp_path / "seen.json"


def told(seen: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(seen.read_text())
    return value


def after(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def test_the_hubs_file_is_handed_to_the_program_which_downloads_it(seen: Path) -> None:
    with LlamaServer(HUB_FILE, context_window=512, slots=2, threads=3, api_key="secret") as server:
        got = told(seen)
        arguments = got["arguments"]
        assert (after(arguments, "--hf-repo"), after(arguments, "--hf-file")) == (HUB_FILE.repo, HUB_FILE.file)
        assert (after(arguments, "--ctx-size"), after(arguments, "--parallel"), after(arguments, "--threads")) == (
            "1024",
            "2",
            "3",
        )
        assert after(arguments, "--alias") == server.model == "model-q4_k_m"
        assert after(arguments, "--port") in server.url
        assert got["key"] == "secret"
        assert "secret" not in arguments
        assert is_alive(got["pid"])
    assert not is_alive(got["pid"])


def test_a_quantization_is_named_with_its_repository(seen: Path) -> None:
    with LlamaServer(HubFile.of("owner/model-GGUF:Q4_K_M"), threads=1) as server:
        assert after(told(seen)["arguments"], "--hf-repo") == "owner/model-GGUF:Q4_K_M"
        assert "--hf-file" not in told(seen)["arguments"]
        assert server.model == "model-GGUF"


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"embeddings": True}, ["mean", "--embeddings"]), ({"pooling": "rank"}, ["rank", "--reranking"])],
)
def test_embeddings_and_ranks_are_asked_for(seen: Path, options: dict[str, Any], expected: list[str]) -> None:
    with LlamaServer(HUB_FILE, context_window=256, threads=1, **options):
        arguments = told(seen)["arguments"]
    assert [after(arguments, "--pooling"), arguments[-1]] == expected
    assert after(arguments, "--ubatch-size") == "256"


def test_a_file_that_cannot_be_downloaded_is_told_with_the_programs_own_words(seen: Path) -> None:
    server = LlamaServer(HubFile("owner/model", "missing.gguf"), threads=1)
    with pytest.raises(LocalServerFailed, match=r"owner/model:missing\.gguf.*cannot resolve the hub's name"):
        server.start()
    assert server.pid is None


def test_a_download_that_takes_too_long_is_given_up_and_the_program_ended(seen: Path) -> None:
    server = LlamaServer(HubFile("owner/model", "endless.gguf"), threads=1, start_timeout=2.0)
    with pytest.raises(LocalServerFailed, match="not loaded within 2 s"):
        server.start()
    assert eventually(lambda: not seen.exists() or not is_alive(told(seen)["pid"]))


def test_a_server_that_was_killed_leaves_no_program_behind(seen: Path) -> None:
    with LlamaServer(HUB_FILE, threads=1) as server:
        assert server.pid is not None
        os.kill(server.pid, 15)
        assert eventually(lambda: not is_alive(told(seen)["pid"]))


def test_without_a_program_that_downloads_what_to_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    begin = time.monotonic()
    with pytest.raises(ServerProgramNotFound, match=r"llama-server.*owner/model-GGUF:model-q4_k_m\.gguf.*--program"):
        LlamaServer(HUB_FILE).start()
    assert time.monotonic() - begin < 30


@pytest.mark.parametrize("text", ["", "model.gguf", "owner/model", "owner/model:", "a/b/c:f.gguf", "o/m:../f.gguf;x"])
def test_what_names_no_file_of_a_hub_is_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match="OWNER/NAME:FILE"):
        HubFile.of(text)


@pytest.mark.real_server
def test_a_real_program_serves_a_file(smollm2: Path) -> None:
    with LlamaServer(smollm2, context_window=256, threads=1, alias="small", program=older_binary()) as server:
        (entry,) = get(server.url).object()["data"]
        assert entry["id"] == "small"
        pid = server.pid
    assert pid is not None
    assert not is_alive(pid)


@pytest.mark.real_server
def test_a_real_program_that_cannot_reach_the_hub_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("LLAMA_CACHE", str(tmp_path))
    server = LlamaServer(HubFile("owner/model", "model.gguf"), threads=1, program=older_binary())
    with pytest.raises(LocalServerFailed, match="could not download or load"):
        server.start()
    assert server.pid is None
