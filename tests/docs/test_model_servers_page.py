"""The examples of `docs/model-servers.md`, run before a real model server and a real embedding server."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.test_examples import DOCS, blocks

from responsa.local.llama_server import LlamaServer
from responsa.schema import errors


@pytest.mark.parametrize("name", ["model-servers.md", "model-servers.zh-CN.md"])
def test_the_examples_run_before_real_servers(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    llama_server: LlamaServer,
    embedding_server: LlamaServer,
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(name):
        code = block.replace("http://127.0.0.1:8080/v1", llama_server.url)
        code = code.replace("http://127.0.0.1:8081/v1", embedding_server.url)
        exec(compile(code.replace("YOUR-EMBEDDING-MODEL", embedding_server.model), str(DOCS / name), "exec"), names)
    assert "smollm2 2048 2" in capsys.readouterr().out
    assert (tmp_path / "library").is_dir()


@pytest.mark.parametrize("name", ["model-servers.md", "model-servers.zh-CN.md"])
def test_the_errors_and_their_fields_are_those_that_there_are(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == 9
    for row in rows:
        kind = getattr(errors, row[1].strip(" `"))
        fields = {field.strip(" `") for field in row[3].replace("、", ",").split(",")}
        assert fields <= set(kind.__dataclass_fields__)
