"""The files named on the command line, read one after another."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from responsa.retrieval.readers import FileReport, SimpleDirectoryReader
from responsa.schema.nodes import Document


class Reading:
    """Reads files and directories, and knows how far it has come.

    Args:
        paths: Files and directories.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        directories = [path for path in paths if path.is_dir()]
        files = [path for path in paths if not path.is_dir()]
        self._readers = [SimpleDirectoryReader(directory) for directory in directories]
        if files:
            self._readers.append(SimpleDirectoryReader(input_files=files))
        self._sizes = {
            os.path.normpath(Path(file).absolute()): _size(Path(file))
            for reader in self._readers
            for file in reader.list_resources()
        }
        self.total_files = len(self._sizes)
        self.total_bytes = sum(self._sizes.values())

    def documents(self) -> Iterator[Document]:
        """Yield the documents of all files."""
        for reader in self._readers:
            yield from reader.iter_data()

    @property
    def files(self) -> list[FileReport]:
        """What became of each file so far."""
        return [file for reader in self._readers for file in reader.report.files]

    @property
    def skipped(self) -> list[FileReport]:
        """The files that could not be read."""
        return [file for file in self.files if file.skipped]

    @property
    def done_bytes(self) -> int:
        """How many bytes the files read so far have."""
        return sum(self._sizes.get(file.path, 0) for file in self.files)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
