"""What only a store on disk does: outlive its process, be shared, be damaged, be full."""

import asyncio
import builtins
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from responsa.retrieval.stores import LanceStore, MemoryStore, StoreMeta
from responsa.schema.errors import (
    IndexDamaged,
    IndexLocked,
    IndexNotFound,
    IndexNotWritable,
    IndexVersionMismatch,
    InvalidOption,
    MissingExtra,
    ResponsaError,
)
from responsa.testing.store_contract import EMBEDDER, document, vector_of

META = StoreMeta("bag-of-words", EMBEDDER.dimensions)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    store = LanceStore.create(path, META)
    store.replace_documents([document("a", "red pump", "green pump", n=1), document("b", "blue valve", n=2)])
    store.optimize()
    return path


def found(store: LanceStore, word: str) -> list[str]:
    return [one.node_id for one in store.keyword_search(word, 9)]


def test_what_was_stored_outlives_the_store(filled: Path) -> None:
    store = LanceStore.open(filled)
    assert store.meta == META
    assert store.location == str(filled)
    assert store.count() == 3
    assert found(store, "valve") == ["b/0"]


def test_making_a_store_where_there_is_one_opens_it(filled: Path) -> None:
    assert LanceStore.create(filled, StoreMeta("other", 5)).meta == META


def test_a_store_sees_what_another_has_written(filled: Path) -> None:
    reader, writer = LanceStore.open(filled), LanceStore.open(filled)
    assert found(reader, "violet") == []
    writer.replace_documents([document("c", "violet")])
    assert found(reader, "violet") == ["c/0"]
    assert reader.count() == 4
    writer.delete_documents(["c"])
    assert found(reader, "violet") == []


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_no_index_is_not_found(tmp_path: Path, make: Any) -> None:
    path = tmp_path / "none"
    make(path)
    with pytest.raises(IndexNotFound, match="responsa ingest"):
        LanceStore.open(path)


def test_a_file_or_a_directory_of_other_things_is_not_taken_for_an_index(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("dear")
    for attempt in (LanceStore.open, lambda path: LanceStore.create(path, META)):
        with pytest.raises(InvalidOption, match="not a file"):
            attempt(file)
    with pytest.raises(InvalidOption, match="new or empty"):
        LanceStore.create(tmp_path, META)
    with pytest.raises(IndexNotFound):
        LanceStore.open(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        ("", IndexDamaged),
        ("{", IndexDamaged),
        ("[]", IndexDamaged),
        ("[" * 100_000, IndexDamaged),
        ('{"format_version": 1}', IndexDamaged),
        ('{"format_version": "1"}', IndexDamaged),
        ('{"format_version": "1", "embed_model": "m", "dimensions": 0}', IndexDamaged),
        ('{"format_version": "1", "embed_model": "m", "dimensions": "384"}', IndexDamaged),
        ('{"format_version": "99"}', IndexVersionMismatch),
    ],
)
def test_a_manifest_that_cannot_be_used_is_named(filled: Path, manifest: str, error: type[Exception]) -> None:
    (filled / "manifest.json").write_text(manifest)
    with pytest.raises(error):
        LanceStore.open(filled)


def test_passages_without_a_manifest_are_damage_and_are_not_written_over(filled: Path) -> None:
    (filled / "manifest.json").unlink()
    for attempt in (LanceStore.open, lambda path: LanceStore.create(path, META)):
        with pytest.raises(IndexDamaged, match="manifest"):
            attempt(filled)
    assert (filled / "passages.lance").exists()


def test_a_making_that_was_interrupted_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "index"
    LanceStore.create(path, META)
    (path / "manifest.json").rename(path / "manifest.json.new")
    store = LanceStore.create(path, META)
    store.replace_documents([document("a", "red")])
    assert found(LanceStore.open(path), "red") == ["a/0"]


@pytest.mark.parametrize("left", ["_versions", "_transactions", "_indices", None])
def test_a_making_that_ended_in_pieces_is_done_again(tmp_path: Path, left: str | None) -> None:
    path = tmp_path / "index"
    LanceStore.create(path, META)
    (path / "manifest.json").unlink()
    for part in (path / "passages.lance").iterdir():
        if part.name != left:
            shutil.rmtree(part)
    store = LanceStore.create(path, META)
    store.replace_documents([document("a", "red")])
    assert found(LanceStore.open(path), "red") == ["a/0"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names")
def test_a_manifest_that_is_a_pipe_is_not_waited_for(filled: Path) -> None:
    (filled / "manifest.json").unlink()
    os.mkfifo(filled / "manifest.json")
    with pytest.raises(IndexDamaged, match="no file"):
        LanceStore.open(filled)


def test_what_is_no_index_is_told_without_loading_lancedb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(IndexNotFound):
        LanceStore.open(tmp_path)


def test_the_reason_of_damage_is_one_sentence(filled: Path) -> None:
    (filled / "manifest.json").unlink()
    with pytest.raises(IndexDamaged) as caught:
        LanceStore.open(filled)
    assert ".." not in str(caught.value)


def test_ctrl_c_while_lancedb_loads_leaves_no_call_that_nothing_waits_for(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = builtins.__import__

    def interrupted(name: str, *given: Any) -> Any:
        if name == "lancedb":
            raise KeyboardInterrupt
        return load(name, *given)

    monkeypatch.setattr(builtins, "__import__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        LanceStore.open(filled)
    gc.collect()  # an unawaited coroutine's warning, an error here, comes when it is collected


def test_every_damaged_file_gives_a_typed_error_or_does_no_harm(filled: Path, tmp_path: Path) -> None:
    files = sorted(path.relative_to(filled) for path in filled.rglob("*") if path.is_file())
    assert len(files) > 10
    seen = set()
    shown = []
    for file in files:
        for damage in (
            lambda path: path.unlink(),
            lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
        ):
            copy = tmp_path / "copy"
            shutil.copytree(filled, copy)
            damage(copy / file)
            try:
                store = LanceStore.open(copy)
                assert len(store.dense_search(vector_of("pump"), 9)) == store.count() == 3
                assert found(store, "pump") == ["a/0", "a/1"]
            except ResponsaError as error:
                seen.add(type(error))
                shown.append(str(error))
            shutil.rmtree(copy)
    assert seen == {IndexDamaged}
    assert not any(".rs:" in text for text in shown)


@contextmanager
def no_space(monkeypatch: pytest.MonkeyPatch, path: str, error: int) -> Iterator[None]:
    def failing(*arguments: Any, **options: Any) -> Any:
        raise OSError(error, os.strerror(error))

    with monkeypatch.context() as patch:
        patch.setattr(path, failing)
        yield


@pytest.mark.parametrize("error", [28, 30, 13])  # no space left, read-only file system, permission denied
@pytest.mark.parametrize("border", ["os.open", "os.fsync", "pathlib.Path.mkdir", "pathlib.Path.replace"])
def test_a_directory_that_cannot_be_written_says_why_and_leaves_no_half_made_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, border: str
) -> None:
    path = tmp_path / "index"
    with no_space(monkeypatch, border, error), pytest.raises(IndexNotWritable, match=os.strerror(error)):
        LanceStore.create(path, META)
    store = LanceStore.create(path, META)
    store.replace_documents([document("a", "red")])
    assert found(LanceStore.open(path), "red") == ["a/0"]


def test_an_index_that_may_only_be_read_is_searched_and_not_written(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LanceStore.open(filled)
    with no_space(monkeypatch, "os.open", 30):
        assert found(store, "valve") == ["b/0"]
        with pytest.raises(IndexNotWritable, match="Read-only"), store.lock():
            raise AssertionError("the lock was taken")


def run_python(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


FULL_DISK = """
import resource, sys
from responsa.retrieval.stores import LanceStore
from responsa.schema.errors import IndexNotWritable
from responsa.testing.store_contract import document
store = LanceStore.open(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    store.replace_documents([document("b", *[f"much more text {n} " * 50 for n in range(500)])])
except IndexNotWritable as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_full_disk_is_named_and_loses_nothing(filled: Path) -> None:
    done = run_python(FULL_DISK, str(filled))
    assert "cannot be written" in done.stdout, done.stderr
    assert "What was stored before is kept" in done.stdout
    store = LanceStore.open(filled)
    assert (store.count(), found(store, "valve")) == (3, ["b/0"])
    store.replace_documents([document("b", "violet")])
    assert found(store, "violet") == ["b/0"]


HOLD_LOCK = """
import sys
from responsa.retrieval.stores import LanceStore
with LanceStore.open(sys.argv[1]).lock():
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_the_lock_of_another_process_ends_with_that_process(filled: Path) -> None:
    store = LanceStore.open(filled)
    command = [sys.executable, "-c", HOLD_LOCK, str(filled)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(IndexLocked), store.lock():
            raise AssertionError("the lock was taken twice")
        assert store.count() == 3
        other.send_signal(signal.SIGKILL)
        other.wait(60)
        with store.lock():
            store.replace_documents([document("c", "violet")])
    assert store.count() == 4


def test_a_missing_package_is_named_with_the_way_to_install_it(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lancedb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'responsa\[local\]'"):
        LanceStore.open(filled)


def test_an_index_over_vectors_is_built_when_there_are_many_and_finds_what_comparing_all_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("responsa.retrieval.stores.lance.EXACT_BELOW", 400)
    monkeypatch.setattr("responsa.retrieval.stores.lance.VECTOR_SEGMENTS", 3)
    texts = [f"passage {n % 50} about {n // 50} and {n}" for n in range(700)]
    disk, memory = LanceStore.create(tmp_path / "index", META), MemoryStore(META)

    def fill(start: int, end: int) -> None:
        for store in (disk, memory):
            store.replace_documents([document(f"d{start}", *texts[start:end])])
            store.optimize()

    def kinds() -> list[str]:
        return [index.index_type for index in asyncio.run(disk._table.list_indices()) if index.columns == ["vector"]]

    def recall() -> float:
        hits = 0
        for n in range(0, 700, 35):
            exact = {one.node_id for one in memory.dense_search(vector_of(texts[n]), 10)}
            hits += len(exact & {one.node_id for one in disk.dense_search(vector_of(texts[n]), 10)})
        return hits / 200

    fill(0, 300)
    assert kinds() == []
    fill(300, 500)
    assert kinds() == ["IvfHnswSq"]
    assert recall() >= 0.95
    for start in range(500, 700, 50):
        fill(start, start + 50)
    assert kinds() == ["IvfHnswSq"]
    assert recall() >= 0.95


def test_a_long_ingest_keeps_its_indexes_up_to_date_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("responsa.retrieval.stores.lance.UNINDEXED_ROWS", 5)
    monkeypatch.setattr("responsa.retrieval.stores.lance.OPTIMIZING_SHARE", float("inf"))
    store = LanceStore.create(tmp_path / "index", META)
    files: list[int] = []
    for number in range(30):
        store.replace_documents([document(f"d{number}", f"passage {number}")])
        files.append(asyncio.run(store._table.stats())["fragment_stats"]["num_fragments"])
    assert max(files) < 10
    assert (store.count(), len(found(store, "passage"))) == (30, 9)


def test_a_fast_ingest_spends_little_of_its_time_on_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("responsa.retrieval.stores.lance.UNINDEXED_ROWS", 5)
    monkeypatch.setattr("responsa.retrieval.stores.lance.OPTIMIZING_SHARE", 1e-9)
    store = LanceStore.create(tmp_path / "index", META)
    for number in range(30):
        store.replace_documents([document(f"d{number}", f"passage {number}")])
    assert asyncio.run(store._table.stats())["fragment_stats"]["num_fragments"] > 20


def test_metadata_that_json_has_no_word_for_is_stored_as_text(filled: Path) -> None:
    store = LanceStore.open(filled)
    store.replace_documents([document("c", "violet", path=Path("x"), nan=float("nan"), huge=10**400)])
    [node] = store.get_nodes(["c/0"])
    assert node.metadata["path"] == "x"
    assert node.metadata["huge"] == 10**400
    assert json.loads((filled / "manifest.json").read_text())["embed_model"] == "bag-of-words"


def test_metadata_that_cannot_be_written_is_refused_and_stores_nothing(filled: Path) -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(IndexNotWritable):
        LanceStore.open(filled).replace_documents([document("c", "violet", endless=endless)])
    assert LanceStore.open(filled).count() == 3


def test_no_thread_is_left_by_calls(filled: Path) -> None:
    import threading

    store = LanceStore.open(filled)
    store.replace_documents([document("c", "violet")])
    before = threading.active_count()
    for _ in range(20):
        store.replace_documents([document("c", "violet")])
        store.keyword_search("violet", 1)
        store.dense_search(vector_of("violet"), 1)
    assert threading.active_count() <= before + 1
