"""What the README shows in Python runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from responsa.local.llama_server import LlamaServer
from responsa.settings import Settings
from responsa.testing.embedder import BagOfWordsEmbedder

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.zh-CN.md")


def blocks(name: str) -> list[str]:
    """Return the Python blocks of a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.real_server
@pytest.mark.parametrize("name", READMES)
def test_the_quick_start_runs(
    name: str,
    llama_server: LlamaServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Settings, "embed_model", BagOfWordsEmbedder())
    Path("documents").mkdir()
    Path("documents/harbor.md").write_text("# Harbor Library\n\nA member can borrow up to eight books.\n")
    Path("documents/海港.md").write_text("# 海港图书馆\n\n会员最多可以借八本书。\n")
    code = "\n".join(blocks(name)).replace("http://127.0.0.1:8080/v1", llama_server.url)
    names: dict[str, object] = {}
    exec(compile(code, name, "exec"), names)
    names["llm"].close()  # type: ignore[attr-defined]
    shown = capsys.readouterr().out
    assert "1 calls" in shown
    assert str(names["response"]) in shown


def without_texts(code: str) -> str:
    """Return code without its texts, its comments and the language it speaks."""
    return re.sub(r'"[^"]*"|#.*|\.render\("zh"\)', "", code)


def test_both_languages_show_the_same_code() -> None:
    english, chinese = ([without_texts(block) for block in blocks(name)] for name in READMES)
    assert english == chinese


@pytest.mark.parametrize("name", [*READMES, "CONTRIBUTING.md", "docs/cli.md"])
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
