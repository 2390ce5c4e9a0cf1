"""What became of each file: read, or skipped with its reason."""

from __future__ import annotations

from dataclasses import dataclass, field

from responsa.schema.errors import ReadingFailed, reading_reason


@dataclass(frozen=True, slots=True)
class Note:
    """Something a person should know of a file that was read, such as its pages without text."""

    reason: str
    detail: str = ""

    def render(self, language: str = "en") -> str:
        """Return the note's text, in "en" or "zh"."""
        return reading_reason(self.reason, self.detail, language)


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file's line in the report.

    Args:
        path: The file, as it was found.
        documents: How many documents it gave.
        characters: How much text they have.
        failure: Why it was skipped, or None.
        notes: What is missing from it although it was read.
        unchanged: Whether it was passed over because it has not changed.
    """

    path: str
    documents: int = 0
    characters: int = 0
    failure: ReadingFailed | None = None
    notes: tuple[Note, ...] = ()
    unchanged: bool = False

    @property
    def skipped(self) -> bool:
        """Whether nothing was read from the file."""
        return self.failure is not None

    def render(self, language: str = "en") -> str:
        """Return the line a person reads, in "en" or "zh"."""
        if self.failure is not None:
            return self.failure.render(language)
        chinese = language == "zh"
        if self.unchanged:
            return f"{self.path}：没有变化" if chinese else f"{self.path}: unchanged"
        if chinese:
            line = f"{self.path}：已读取，{self.documents} 个文档，{self.characters} 个字符"
        else:
            documents = "1 document" if self.documents == 1 else f"{self.documents} documents"
            line = f"{self.path}: read, {documents}, {self.characters} characters"
        return ("；" if chinese else "; ").join([line, *(note.render(language) for note in self.notes)])


@dataclass(slots=True)
class ReadingReport:
    """All files of one reading, in the order they were read."""

    files: list[FileReport] = field(default_factory=list)

    @property
    def read(self) -> list[FileReport]:
        """The files that gave documents."""
        return [file for file in self.files if not file.skipped and not file.unchanged]

    @property
    def skipped(self) -> list[FileReport]:
        """The files that gave none, each with its reason."""
        return [file for file in self.files if file.skipped]

    @property
    def failures(self) -> list[ReadingFailed]:
        """Why files were skipped."""
        return [file.failure for file in self.files if file.failure is not None]

    @property
    def documents(self) -> int:
        """How many documents were read."""
        return sum(file.documents for file in self.files)

    def render(self, language: str = "en") -> str:
        """Return the lines a person reads, one a file, in "en" or "zh"."""
        return "\n".join(file.render(language) for file in self.files)
