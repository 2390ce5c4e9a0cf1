"""A model file on a model hub, which a server downloads itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

from ..schema.errors import InvalidOption

_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_FILE: Final = re.compile(r"[\w.-]+(?:/[\w.-]+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file, or a quantization, of a repository of the hub that llama-server knows.

    Args:
        repo: The repository, "OWNER/NAME".
        file: The file's name, which ends with `.gguf`, or a quantization's, such as "Q4_K_M".
    """

    repo: str
    file: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Read "OWNER/NAME:FILE"; raises `InvalidOption` where it is something else."""
        repo, _, file = text.partition(":")
        if not _NAME.fullmatch(repo) or not _FILE.fullmatch(file):
            raise InvalidOption("the hub's file", text, "OWNER/NAME:FILE.gguf, or OWNER/NAME:QUANTIZATION")
        return cls(repo, file)

    @property
    def name(self) -> str:
        """What the model is called, unless it is given another id."""
        return self.file.rpartition("/")[2].removesuffix(".gguf") if self.is_file else self.repo.partition("/")[2]

    @property
    def is_file(self) -> bool:
        """Whether it is one file by its name."""
        return self.file.endswith(".gguf")

    def __str__(self) -> str:
        return f"{self.repo}:{self.file}"
