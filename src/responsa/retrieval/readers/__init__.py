"""Files of many formats read into documents."""

from __future__ import annotations

from .directory import SimpleDirectoryReader
from .report import FileReport, Note, ReadingReport
from .strings import StringIterableReader

__all__ = ["FileReport", "Note", "ReadingReport", "SimpleDirectoryReader", "StringIterableReader"]
