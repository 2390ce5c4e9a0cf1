"""The service as a process of its own, before a model server that says what the test tells it to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults import FaultServer, reply

from responsa.server import ServerSettings

MODELS = reply({"object": "list", "data": [{"id": "scripted"}]})


def model_server(faults: FaultServer, *scripts: Any) -> FaultServer:
    """Let the server answer chat completions with these scripts in turn."""
    return faults.on("GET /v1/models", MODELS).on("POST /v1/chat/completions", *scripts)


@dataclass
class Served:
    """A service that runs.

    Args:
        process: Its process.
        url: Where it listens.
        log_file: What it writes to standard error.
    """

    process: subprocess.Popen[str]
    url: str
    log_file: Path

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines of its log; each is JSON."""
        return [json.loads(line) for line in self.log_file.read_text("utf-8").splitlines() if line.startswith("{")]


@contextmanager
def a_process(tmp_path: Path, api_base: str, *words: str, **settings: object) -> Iterator[Served]:
    """Run `responsa serve`; it is killed at the end if it has not ended."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RESPONSA_")}
    values = {"data_dir": tmp_path / "data", "context_window": 4096, "concurrency": 4, "port": 0, **settings}
    assert set(values) <= set(ServerSettings.model_fields)
    environment |= {f"RESPONSA_{name.upper()}": str(value) for name, value in values.items()}
    command = [sys.executable, "-m", "responsa.cli", "serve", "--api-base", api_base, *words]
    log_file = tmp_path / f"log-{len(list(tmp_path.glob('log-*')))}"
    with (
        log_file.open("w") as log,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            assert "http://" in line, log_file.read_text()
            yield Served(process, "http://" + line.partition("http://")[2].split()[0], log_file)
        finally:
            process.kill()
