"""From a file's bytes to documents, wherever the bytes come from."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from responsa.schema.errors import ReadingFailed
from responsa.schema.nodes import Document

from .detection import FileKind, detect
from .parts import FormatReader, Part, SourceFile

logger = logging.getLogger(__name__)

# Each format's module and function, loaded when its first file comes.
_READERS: Final[dict[FileKind, tuple[str, str]]] = {
    FileKind.MARKDOWN: ("text", "read_markdown"),
    FileKind.TEXT: ("text", "read_text"),
    FileKind.HTML: ("html", "read_html"),
    FileKind.PDF: ("pdf", "read_pdf"),
    FileKind.DOCX: ("docx", "read_docx"),
    FileKind.KNOWLEDGE: ("knowledge", "read_knowledge"),
}
# A model is shown where a passage stands (title path, page), not how the file is stored nor what the text says already.
_FILE_KEYS: Final = ("file_path", "file_name", "file_type", "file_hash", "title", "url")
_ENTRY_KEYS: Final = ("question", "answer", "full_answer", "summary", "extra")


def documents_of(
    source: SourceFile,
    identity: Callable[[str], str],
    common: Mapping[str, Any],
    extra: Mapping[str, Any],
) -> Iterator[Document]:
    """Yield a file's documents, one a page, an entry or the whole.

    Args:
        source: The file, unpacked.
        identity: Makes a document's identity from what tells it from the file's others.
        common: Metadata of all of them, below what the file says itself.
        extra: Metadata above what the file says.

    Raises:
        ReadingFailed: The file is empty, encrypted, damaged, or of a kind that is not read.
    """
    kind = detect(source)
    for part in _parts(kind, source):
        metadata = {**common, "file_type": kind.value, **part.metadata, **extra}
        yield Document(
            text=part.text,
            id_=identity(part.key),
            metadata=metadata,
            excluded_llm_metadata_keys=[*_FILE_KEYS, *_ENTRY_KEYS],
            excluded_embed_metadata_keys=[*_FILE_KEYS, *_ENTRY_KEYS, "page"],
        )


def _parts(kind: FileKind, source: SourceFile) -> Iterator[Part]:
    """Yield a file's parts; whatever a format's parser stumbles over is that file's failure, not the reading's."""
    module, function = _READERS[kind]
    read = cast(FormatReader, getattr(importlib.import_module(f".{module}", __package__), function))
    try:
        yield from read(source)
    except ReadingFailed:
        raise
    except Exception as error:
        # For who mends the reader; the report has the file's line.
        logger.info("The %s reader failed on %s.", kind.value, source.path, exc_info=True)
        raise source.failed("damaged", f"{type(error).__name__}: {error}"[:200]) from error
