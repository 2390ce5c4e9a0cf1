"""Finds the files of a directory in a fixed order, without following links out of it or round in circles."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from responsa.schema.errors import ReadingFailed

from .files import reason_of, shown


@dataclass(slots=True)
class FileFinder:
    """Finds the files below a directory that pass the filters.

    Args:
        root: The directory.
        recursive: Whether directories in it are searched too.
        required_exts: Only files whose name ends in one of these, small letters, `.gz` apart; all if empty.
        exclude: Patterns of names, or of paths below `root`, that are left out.
        exclude_hidden: Whether names that begin with a dot are left out.
    """

    root: Path
    recursive: bool = True
    required_exts: Sequence[str] = ()
    exclude: Sequence[str] = ()
    exclude_hidden: bool = True
    _real_root: str = ""
    _visited: set[tuple[int, int]] = field(default_factory=set)

    def find(self) -> Iterator[Path | ReadingFailed]:
        """Yield the files in order of their names; for what cannot be searched, why."""
        self._real_root = os.path.realpath(self.root)
        self._visited.clear()
        yield from self._in_directory(self.root)

    def _in_directory(self, directory: Path) -> Iterator[Path | ReadingFailed]:
        waiting = [directory]
        while waiting:
            here = waiting.pop()
            try:
                status = here.stat()
                if (status.st_dev, status.st_ino) in self._visited:
                    yield ReadingFailed(shown(here), "link_loop")
                    continue
                self._visited.add((status.st_dev, status.st_ino))
                with os.scandir(here) as listing:
                    entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
            except OSError as error:
                yield ReadingFailed(shown(here), "unreadable", reason_of(error))
                continue
            deeper: list[Path] = []
            for entry in entries:
                path = here / entry.name
                if self._left_out(path):
                    continue
                found = self._entry(entry, path)
                if found is None:
                    deeper.append(path)
                elif isinstance(found, ReadingFailed) or self._wanted(entry.name):
                    yield found
            if self.recursive:
                waiting.extend(reversed(deeper))

    def _entry(self, entry: os.DirEntry[str], path: Path) -> Path | ReadingFailed | None:
        """Return a file's path, why it cannot be read, or None for a directory."""
        try:
            if entry.is_symlink() and (failure := self._bad_link(path)):
                return failure
            return None if entry.is_dir() else path
        except OSError as error:
            return ReadingFailed(shown(path), "unreadable", reason_of(error))

    def _bad_link(self, path: Path) -> ReadingFailed | None:
        try:
            target = os.path.realpath(path, strict=True)
        except FileNotFoundError:
            return ReadingFailed(shown(path), "broken_link")
        except OSError:
            return ReadingFailed(shown(path), "link_loop")
        if os.path.commonpath([self._real_root, target]) != self._real_root:
            return ReadingFailed(shown(path), "link_outside")
        return None

    def _left_out(self, path: Path) -> bool:
        if self.exclude_hidden and path.name.startswith("."):
            return True
        below = path.relative_to(self.root).as_posix()
        return any(fnmatch(path.name, pattern) or fnmatch(below, pattern) for pattern in self.exclude)

    def _wanted(self, name: str) -> bool:
        name = name.lower().removesuffix(".gz")
        return not self.required_exts or name.endswith(tuple(self.required_exts))
