"""`responsa serve`, `keys` and `config`: as a person runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.cli.memory_parts import Run

from responsa.server import ServerSettings
from responsa.server.security.keys import KeyStore


@pytest.fixture(autouse=True)
def without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no settings are in the environment."""
    for name in ServerSettings.model_fields:
        monkeypatch.delenv(f"RESPONSA_{name.upper()}", raising=False)


def test_a_key_is_made_shown_once_listed_and_revoked(responsa: Run, tmp_path: Path) -> None:
    made = responsa("keys", "add", "anna", "--scope", "write", "--data-dir", "place")
    text = made.out.strip()
    store = KeyStore(tmp_path / "place" / "keys.json")
    key = store.verify(text)
    assert made.code == 0
    assert key is not None
    assert (key.name, list(key.scopes)) == ("anna", ["write"])
    assert text not in made.err
    listed = responsa("keys", "list", "--data-dir", "place")
    assert key.key_id in listed.out
    assert text.split("_", 2)[2] not in listed.out
    assert json.loads(responsa("keys", "list", "--json", "--data-dir", "place").out)["keys"][0]["id"] == key.key_id
    assert responsa("keys", "revoke", key.key_id, "--data-dir", "place").code == 0
    assert store.verify(text) is None
    assert responsa("keys", "revoke", "nothing", "--data-dir", "place").code == 1
    assert responsa("keys", "add", "x", "--scope", "root").code == 2


def test_a_key_is_made_with_limits_of_its_own(responsa: Run, tmp_path: Path) -> None:
    place = ("--data-dir", "place")
    assert responsa("keys", "add", "anna", "--limit", "60/minute", "--limit", " 1000/day", *place).code == 0
    assert responsa("keys", "add", "ben", *place).code == 0
    assert "60/minute, 1000/day" in responsa("keys", "list", *place).out
    listed = json.loads(responsa("keys", "list", "--json", *place).out)["keys"]
    assert [key["limits"] for key in listed] == [["60/minute", "1000/day"], []]
    refused = responsa("keys", "add", "carl", "--limit", "10/week", *place)
    assert refused.code == 2
    assert "10/week" in refused.err
    assert len(KeyStore(tmp_path / "place" / "keys.json").list()) == 2


def test_the_settings_shown_are_a_settings_file_and_hold_no_secret(
    responsa: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RESPONSA_API_KEY", "hunter2")
    monkeypatch.setenv("RESPONSA_INDEX", "docs=a b/c")
    (tmp_path / "mine.toml").write_text("port = 9001\n")
    shown = responsa("config", "--settings", "mine.toml")
    assert "hunter2" not in shown.out + shown.err
    (tmp_path / "again.toml").write_text(shown.out.replace('api_key = "(set)"\n', ""))
    first, again = (
        json.loads(responsa("config", "--settings", file, "--json").out) for file in ("mine.toml", "again.toml")
    )
    assert first == again
    assert (first["port"], first["index"]) == (9001, {"docs": "a b/c"})
    wrong = responsa("config", "--settings", "missing.toml")
    assert wrong.code == 2
    assert "missing.toml" in wrong.err


@pytest.mark.parametrize("words", [["--no-auth"], []])
def test_the_network_is_not_served_without_a_key(responsa: Run, words: list[str]) -> None:
    refused = responsa("serve", "--host", "0.0.0.0", *words)
    assert refused.code == 2
    assert "responsa keys add" in refused.err


def test_a_taken_port_is_told(responsa: Run) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = responsa("serve", "--no-auth", "--port", str(port))
    assert refused.code == 2
    assert str(port) in refused.err


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_service_says_where_it_listens_answers_and_ends_when_told(tmp_path: Path, ending: signal.Signals) -> None:
    environment = {**os.environ, "RESPONSA_LANG": "zh", "RESPONSA_DATA_DIR": str(tmp_path)}
    command: list[Any] = [sys.executable, "-m", "responsa.cli", "serve", "--no-auth", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("问答服务已在 http://127.0.0.1:")
            url = line.split()[1]
            assert httpx2.get(f"{url}/healthz").json() == {"status": "ok"}
        finally:
            process.send_signal(ending)
        process.wait(60)
        assert process.returncode == 130
