"""The examples of the pages run as they stand, each page from its first block to its last; in both languages alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from responsa import Settings
from responsa.testing import BagOfWordsEmbedder

DOCS = Path(__file__).parents[2] / "docs"
# Those of the model servers' page run before real ones.
PAGES = sorted(
    page.name
    for page in DOCS.glob("*.md")
    if "```python" in page.read_text(encoding="utf-8") and not page.name.startswith("model-servers")
)
TRANSLATED = sorted(page.name for page in DOCS.glob("*.zh-CN.md"))
SERVER = "from responsa.llms.openai_like import OpenAILike"


def blocks(name: str) -> list[str]:
    """The Python blocks of a page, each on the line where it stands, so that an error names it."""
    page = (DOCS / name).read_text(encoding="utf-8")
    found = re.finditer(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return ["\n" * page[: match.start(1)].count("\n") + match[1] for match in found]


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_a_page_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for setting in ("llm", "callback_manager", "prompt_helper", "language"):
        monkeypatch.setattr(Settings, setting, getattr(Settings, setting))
    monkeypatch.setattr(Settings, "embed_model", BagOfWordsEmbedder())
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(name):
        code = block.replace(SERVER, "from tests.docs.stand_in import OpenAILike")
        exec(compile(code, str(DOCS / name), "exec"), names)
    assert capsys.readouterr().out or "print(" not in "".join(blocks(name))


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translated_page_shows_the_same_code(name: str) -> None:
    def bare(code: str) -> str:
        return re.sub(r'f?"(?:[^"\\]|\\.)*"|#.*', "", code)

    original = name.replace(".zh-CN", "")
    assert [bare(block).split() for block in blocks(name)] == [bare(block).split() for block in blocks(original)]


def headings(name: str) -> list[int]:
    page = re.sub(r"^```.*?^```", "", (DOCS / name).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return [len(marks) for marks in re.findall(r"^(#+) ", page, re.MULTILINE)]


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translated_page_has_the_same_parts_and_tables(name: str) -> None:
    original = name.replace(".zh-CN", "")
    assert headings(name) == headings(original)
    rows = [
        len(re.findall(r"^\|", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)) for page in (name, original)
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("name", sorted(page.name for page in DOCS.glob("*.md")))
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", (DOCS / name).read_text(encoding="utf-8")):
        assert (DOCS / target).exists(), target
