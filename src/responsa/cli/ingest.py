"""`responsa ingest`: documents into an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option

from responsa.schema.errors import InvalidOption

from .options import (
    DEFAULT_INDEX,
    AsJson,
    EmbedApiBase,
    EmbedApiKey,
    EmbedModel,
    IndexDir,
    server_choice,
)

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex
    from responsa.retrieval.progress import IngestReport

    from .reading import Reading
    from .terminal import Terminal


def ingest(
    context: Context,
    paths: Annotated[list[Path], Argument(metavar="PATH", help="Files and directories to read.")],
    index: IndexDir = DEFAULT_INDEX,
    chunk_size: Annotated[int, Option("--chunk-size", min=16, max=8000, help="The most tokens of a passage.")] = 320,
    as_json: AsJson = False,
    embed_api_base: EmbedApiBase = None,
    embed_model: EmbedModel = None,
    embed_api_key: EmbedApiKey = None,
) -> int:
    """Read documents into an index."""
    from .progress_view import ProgressView
    from .reading import Reading

    terminal: Terminal = context.obj
    terminal.as_json = as_json
    for path in paths:
        if not path.exists():
            raise InvalidOption("PATH", path, "a file or directory that exists")
    choice = server_choice(embed_api_base, embed_model, embed_api_key)
    passages = terminal.parts.index_to_fill(index, choice, chunk_size=chunk_size)
    reading = Reading(paths)
    with ProgressView(terminal, reading) as view:
        report = passages.refresh(reading.documents(), progress=view.show)
    if as_json:
        _write_json(reading, report, passages)
    else:
        _write_report(reading, report, passages, terminal)
    return 1 if reading.skipped and not report.documents else 0


def _write_report(reading: Reading, report: IngestReport, index: VectorStoreIndex, terminal: Terminal) -> None:
    from .terminal import one_line

    if reading.skipped:
        terminal.remark(terminal.text("skipped", count=len(reading.skipped), total=len(reading.files)), "yellow")
    for file in reading.skipped:
        terminal.remark("  " + one_line(file.render(terminal.language)), "")
    for file in reading.files:
        if file.notes:
            terminal.remark("  " + one_line(file.render(terminal.language)), "")
    terminal.write(
        terminal.text(
            "ingested",
            passages=report.passages,
            stored=report.inserted + report.replaced,
            seconds=f"{report.seconds:.1f}",
            new=report.inserted,
            replaced=report.replaced,
            unchanged=report.unchanged,
        )
    )
    if report.empty:
        terminal.write(terminal.text("without_text", count=len(report.empty)))
    store = index.store
    documents = len(store.document_hashes())
    terminal.write(terminal.text("index_holds", path=store.location, passages=store.count(), documents=documents))


def _write_json(reading: Reading, report: IngestReport, index: VectorStoreIndex) -> None:
    from . import json_view

    json_view.write(
        {
            "index": index.store.location,
            "inserted": report.inserted,
            "replaced": report.replaced,
            "unchanged": report.unchanged,
            "empty": len(report.empty),
            "passages": report.passages,
            "seconds": round(report.seconds, 3),
            "files": [
                {
                    "path": file.path,
                    "documents": file.documents,
                    "characters": file.characters,
                    "skipped": file.failure and file.failure.details(),
                    "notes": [{"reason": note.reason, "detail": note.detail} for note in file.notes],
                }
                for file in reading.files
            ],
            "index_passages": index.store.count(),
            "index_documents": len(index.store.document_hashes()),
        }
    )
