"""The process that reads files: whatever a hostile file does to it, the service goes on.

Run as `python -m responsa.server.documents.reading`. It takes one request a line from standard input and answers with
frames on standard output, each a length of four bytes and JSON; it ends with its parent.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final

from responsa.retrieval.readers.detection import FileKind, detect, unpacked
from responsa.retrieval.readers.encodings import decode
from responsa.retrieval.readers.files import read_bytes
from responsa.retrieval.readers.parts import SourceFile
from responsa.retrieval.readers.pdf import check_pdf
from responsa.retrieval.readers.sources import documents_of
from responsa.schema.errors import ReadingFailed
from responsa.schema.identity import fingerprint

MOST_MEMORY: Final = 4_000_000_000  # bytes
_PLAIN: Final = frozenset([FileKind.TEXT, FileKind.MARKDOWN, FileKind.KNOWLEDGE])


def main() -> None:
    """Answer requests until standard input ends."""
    _limit_memory()
    # What a library prints must not stand between the frames.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(values: dict[str, Any]) -> None:
        write_frame(out, values)

    for line in sys.stdin.buffer:
        _answer(json.loads(line), send)


def write_frame(out: BinaryIO, values: dict[str, Any]) -> None:
    """Write one frame."""
    data = json.dumps(values, default=str).encode("ascii")
    out.write(len(data).to_bytes(4, "big") + data)
    out.flush()


def _answer(request: dict[str, Any], send: Callable[[dict[str, Any]], None]) -> None:
    name = request["name"]
    try:
        data = read_bytes(Path(request["path"]), request["max_bytes"])
        source = unpacked(SourceFile(name, name, data, request["max_bytes"]))
        if request["check"]:
            kind = detect(source)
            if kind is FileKind.PDF:  # whether it is locked, no other than its reader knows
                check_pdf(source)
            elif kind in _PLAIN:  # what is no text has no sign of its own
                decode(source)
            send({"kind": kind.value})
            return
        made = documents_of(
            source, lambda key: f"{request['id']}.{fingerprint(key)}", {"file_name": name}, {"upload": request["id"]}
        )
        for document in made:
            send(
                {
                    "text": document.text,
                    "id_": document.id_,
                    "metadata": document.metadata,
                    "excluded_llm_metadata_keys": [*document.excluded_llm_metadata_keys, "upload"],
                    "excluded_embed_metadata_keys": [*document.excluded_embed_metadata_keys, "upload"],
                }
            )
        send({"end": True})
    except ReadingFailed as failure:
        send({"failed": [failure.reason if failure.path == name else "unreadable", failure.detail]})
    except MemoryError:
        send({"failed": ["damaged", "it takes more memory than may be"]})


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = MOST_MEMORY if most == resource.RLIM_INFINITY else min(MOST_MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


if __name__ == "__main__":
    main()
