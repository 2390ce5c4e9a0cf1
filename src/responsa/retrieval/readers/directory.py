"""Reads files and directories into documents, one file at a time."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from responsa.schema.errors import InvalidOption, ReadingFailed
from responsa.schema.identity import fingerprint
from responsa.schema.nodes import Document

from .detection import unpacked
from .files import read_bytes, shown
from .finding import FileFinder
from .parts import SourceFile
from .report import FileReport, ReadingReport
from .sources import documents_of

MAX_FILE_BYTES: Final = 100_000_000

FileMetadata: TypeAlias = Callable[[str], Mapping[str, Any]]


class SimpleDirectoryReader:
    """Reads Markdown, text, HTML, PDF, DOCX and knowledge entries in JSON lines, each by its content.

    A file that cannot be read is one line in `report` with its reason; it never stops the others and never becomes
    content. A document's identity follows from its file's path, so that reading again finds what has changed;
    `metadata["file_hash"]` is the SHA-256 of the file. A PDF gives one document a page, JSON lines one an entry, any
    other file one.

    Args:
        input_dir: The directory to read.
        input_files: Files to read, after those of `input_dir`.
        recursive: Whether directories in `input_dir` are read too.
        required_exts: Only files of `input_dir` with these endings, such as `[".md", ".pdf"]`.
        exclude: Patterns of file names, or of paths below `input_dir`, that are left out, such as `"drafts/*"`.
        exclude_hidden: Whether names that begin with a dot are left out.
        encoding: The encoding of text files; found out for each file when left out.
        file_metadata: Gives further metadata for a file's path.
        max_file_bytes: The most bytes a file may have, and may unpack to.
        num_files_limit: The most files read.

    Raises:
        InvalidOption: `input_dir` is no directory, nothing to read was named, or a number is out of range.

    Example:
        >>> from responsa.samples import path
        >>> documents = SimpleDirectoryReader(path()).load_data()
        >>> documents[0].metadata["file_name"]
        'cluster.md'
    """

    def __init__(
        self,
        input_dir: str | os.PathLike[str] | None = None,
        input_files: Sequence[str | os.PathLike[str]] | None = None,
        *,
        recursive: bool = True,
        required_exts: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        exclude_hidden: bool = True,
        encoding: str | None = None,
        file_metadata: FileMetadata | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
        num_files_limit: int | None = None,
    ) -> None:
        if input_dir is None and not input_files:
            raise InvalidOption("input_dir", None, "a directory, or files in input_files")
        if input_dir is not None and not Path(input_dir).is_dir():
            raise InvalidOption("input_dir", os.fspath(input_dir), "a directory that exists")
        if max_file_bytes < 1:
            raise InvalidOption("max_file_bytes", max_file_bytes, "1 byte or more")
        if num_files_limit is not None and num_files_limit < 1:
            raise InvalidOption("num_files_limit", num_files_limit, "1 file or more")
        if encoding is not None:
            _check_encoding(encoding)
        self._finder: FileFinder | None = None
        if input_dir is not None:
            self._finder = FileFinder(
                Path(input_dir),
                recursive=recursive,
                required_exts=tuple("." + ending.lower().lstrip(".") for ending in required_exts or ()),
                exclude=tuple(exclude or ()),
                exclude_hidden=exclude_hidden,
            )
        self._input_files = [Path(file) for file in input_files or ()]
        self._encoding = encoding
        self._file_metadata = file_metadata
        self._max_file_bytes = max_file_bytes
        self._num_files_limit = num_files_limit
        self.report = ReadingReport()

    def list_resources(self) -> list[str]:
        """Return the paths of the files that will be read, without opening them."""
        return [shown(found) for found in self._found() if isinstance(found, Path)]

    def load_data(self) -> list[Document]:
        """Read all files and return their documents; `report` then says what became of each file."""
        return list(self.iter_data())

    async def aload_data(self) -> list[Document]:
        """Read all files in a worker thread, without blocking the event loop."""
        return await asyncio.to_thread(self.load_data)

    def iter_data(self, *, is_unchanged: Callable[[str, str], bool] | None = None) -> Iterator[Document]:
        """Yield the documents file by file; no more than one file is held at a time.

        Args:
            is_unchanged: Asked with each file's path and SHA-256; a file it says True for is passed over.
        """
        self.report = report = ReadingReport()
        for found in self._found():
            if isinstance(found, ReadingFailed):
                report.files.append(FileReport(found.path, failure=found))
            else:
                yield from self._documents(found, report, is_unchanged)

    def _found(self) -> Iterator[Path | ReadingFailed]:
        found: Iterator[Path | ReadingFailed] = iter(self._input_files)
        if self._finder is not None:
            found = itertools.chain(self._finder.find(), found)
        if self._num_files_limit is None:
            yield from found
            return
        left = self._num_files_limit
        for file in found:
            yield file
            left -= isinstance(file, Path)
            if not left:
                return

    def _documents(
        self, path: Path, report: ReadingReport, is_unchanged: Callable[[str, str], bool] | None
    ) -> Iterator[Document]:
        """Yield one file's documents, and write its line into the report when they are read."""
        place = shown(Path(os.path.normpath(path.absolute())))
        documents = characters = 0
        source: SourceFile | None = None
        try:
            data = read_bytes(path, self._max_file_bytes)
            file_hash = hashlib.sha256(data).hexdigest()
            if is_unchanged is not None and is_unchanged(place, file_hash):
                report.files.append(FileReport(place, unchanged=True))
                return
            source = unpacked(SourceFile(place, shown(Path(path.name)), data, self._max_file_bytes, self._encoding))
            common = {"file_path": place, "file_name": shown(Path(path.name)), "file_hash": file_hash}
            extra = self._file_metadata(place) if self._file_metadata else {}
            for document in documents_of(source, lambda key: fingerprint(place, key), common, extra):
                documents += 1
                characters += len(document.text)
                yield document
        except ReadingFailed as failure:
            report.files.append(FileReport(place, documents, characters, failure=failure))
            return
        report.files.append(FileReport(place, documents, characters, notes=tuple(source.notes)))


def _check_encoding(encoding: str) -> None:
    try:
        b"a".decode(encoding)
    except UnicodeDecodeError:
        return
    except LookupError:
        raise InvalidOption("encoding", encoding, "the name of a text encoding, such as utf-8 or gb18030") from None
