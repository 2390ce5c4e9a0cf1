"""The program over a real index in a directory, good and bad."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.memory_parts import Run

from responsa.cli.options import ServerChoice
from responsa.cli.parts import Parts
from responsa.indices import VectorStoreIndex
from responsa.retrieval.stores.directory import MANIFEST, IndexDirectory
from responsa.schema.protocols import LLM, Embedder
from responsa.testing import ScriptedLLM
from responsa.testing.embedder import BagOfWordsEmbedder

QUESTION = "How many books can a member borrow?"


class DiskParts(Parts):
    """Real indexes, a deterministic embedder and a scripted model."""

    def __init__(self, model_name: str = "bag-of-words") -> None:
        super().__init__()
        self._model_name = model_name

    def llm(self, choice: ServerChoice) -> LLM:
        return ScriptedLLM("A member can borrow up to eight books.")

    def packaged_embedder(self) -> Embedder:
        return BagOfWordsEmbedder(model_name=self._model_name)

    def open_index(self, path: Path, embedder: Embedder | None) -> VectorStoreIndex:
        return super().open_index(path, embedder or self.packaged_embedder())


@pytest.fixture
def shelf(responsa: Run, tmp_path: Path) -> Path:
    """An index `shelf` of one document."""
    (tmp_path / "harbor.md").write_text("# Harbor Library\n\nA member can borrow up to eight books.")
    done = responsa("ingest", "harbor.md", "--index", "shelf", parts=DiskParts())
    assert done.code == 0
    return tmp_path / "shelf"


def test_what_was_ingested_is_found_again_by_another_run(responsa: Run, shelf: Path) -> None:
    done = responsa("ask", QUESTION, "--index", "shelf", parts=DiskParts())
    assert done.code == 0
    assert done.out.startswith("A member can borrow up to eight books. [1*]\n")
    assert "[1] Harbor Library" in done.out
    again = responsa("ingest", "harbor.md", "--index", "shelf", parts=DiskParts())
    assert "0 new, 0 changed; 1 unchanged." in again.out
    facts = json.loads(responsa("index", "info", "--index", "shelf", "--json", parts=DiskParts()).out)
    assert (facts["documents"], facts["passages"], facts["embed_model"]) == (1, 1, "bag-of-words")
    assert facts["size"] > 0


def test_the_index_may_come_from_the_environment(responsa: Run, shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESPONSA_INDEX", str(shelf))
    assert "[1] Harbor Library" in responsa("search", "books", parts=DiskParts()).out


def _half_written(shelf: Path) -> None:
    (shelf / MANIFEST).unlink()


def _garbage(shelf: Path) -> None:
    (shelf / MANIFEST).write_bytes(b"\x00\xff{")


def _other_version(shelf: Path) -> None:
    manifest = json.loads((shelf / MANIFEST).read_text())
    (shelf / MANIFEST).write_text(json.dumps({**manifest, "format_version": "77"}))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (_half_written, {"en": "ingest again", "zh": "重新导入"}),
        (_garbage, {"en": "ingest again", "zh": "重新导入"}),
        (_other_version, {"en": "form 77", "zh": "格式是 77"}),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_spoilt_index_is_one_line(
    responsa: Run, shelf: Path, spoil: object, says: dict[str, str], language: str
) -> None:
    assert callable(spoil)
    spoil(shelf)
    done = responsa("ask", QUESTION, "--index", "shelf", "--lang", language, parts=DiskParts())
    assert (done.code, done.out) == (1, "")
    (line,) = done.err.splitlines()
    assert says[language] in line


def test_an_index_of_another_embedding_model_is_one_line(responsa: Run, shelf: Path) -> None:
    for words in (("ask", QUESTION), ("ingest", "harbor.md")):
        done = responsa(*words, "--index", "shelf", parts=DiskParts("another-model"))
        assert (done.code, done.out) == (1, "")
        (line,) = done.err.splitlines()
        assert "bag-of-words" in line
        assert "another-model" in line


def test_an_index_that_another_process_writes_to_can_be_read_but_not_filled(responsa: Run, shelf: Path) -> None:
    with IndexDirectory(shelf).lock():
        done = responsa("ingest", "harbor.md", "--index", "shelf", parts=DiskParts())
        read = responsa("ask", QUESTION, "--index", "shelf", parts=DiskParts())
    assert (done.code, done.out) == (1, "")
    assert "Another process is writing" in done.err.splitlines()[-1]
    assert read.code == 0


def test_a_directory_that_cannot_be_written_is_one_line(responsa: Run, shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    done = responsa("ingest", "harbor.md", "--index", "file/below", parts=DiskParts())
    assert done.code == 1
    (line,) = done.err.splitlines()
    assert "file/below" in line


def test_a_directory_of_other_files_is_left_alone(responsa: Run, shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    done = responsa("ingest", "harbor.md", "--index", "mine", parts=DiskParts())
    assert done.code == 2
    assert "mine" in done.err.splitlines()[-1]
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["letter.txt"]
