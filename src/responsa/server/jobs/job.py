"""A job as it is kept."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from responsa.memory.writers import new_writer
from responsa.schema.stored import new_id

JobKind: TypeAlias = Literal["ingest", "reindex", "delete"]
JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]

UNENDED: Final = ("queued", "running")
RUNNABLE: Final = ("failed", "cancelled", "interrupted")


@dataclass(frozen=True, slots=True)
class Job:
    """Work on documents of an index.

    Args:
        kind: What is done with them.
        index: The index's name.
        documents: The documents' identities; none for all that the index has when it begins.
        id: Its identity.
        state: How far it is; "interrupted" if the process ended before it.
        worker: Which process has it; see `responsa.memory.writers`.
        created: When it was asked for, in seconds since 1970 (UTC).
        started: When it began, or None.
        ended: When it ended, or None.
        attempts: How often it was begun.
        files_total: How many documents there are, where they are not named.
        files_done: Documents gone through.
        passages: Passages stored.
        embedded: Passages embedded; those of a document are stored together, once all of them are.
        skipped: Documents that could not be read: `document_id`, `name`, `error`.
        error: What it failed with.
    """

    kind: JobKind
    index: str
    documents: tuple[str, ...]
    id: str = field(default_factory=new_id)
    state: JobState = "queued"
    worker: str = field(default_factory=new_writer)
    created: float = field(default_factory=time.time)
    started: float | None = None
    ended: float | None = None
    attempts: int = 0
    files_total: int = 0
    files_done: int = 0
    passages: int = 0
    embedded: int = 0
    skipped: tuple[dict[str, Any], ...] = ()
    error: dict[str, Any] | None = None
