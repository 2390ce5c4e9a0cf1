"""How far an ingest has come, and what it did."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """What an ingest has done so far; all of it is stored but for what is only embedded.

    Args:
        documents_done: Documents stored or found unchanged.
        documents_total: Documents there are; None where the source does not say.
        unchanged: Of those done, how many were stored before.
        passages: Passages stored.
        embedded: Passages embedded; those of a document are stored together, once all of them are.
        seconds: The time taken.
    """

    documents_done: int
    documents_total: int | None
    unchanged: int
    passages: int
    embedded: int
    seconds: float

    @property
    def rate(self) -> float:
        """Passages embedded a second."""
        return self.embedded / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time the rest takes if none of it is unchanged; None while that cannot be told."""
        changed = self.documents_done - self.unchanged
        if self.documents_total is None or not changed:
            return None
        return self.seconds / changed * max(self.documents_total - self.documents_done, 0)


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did.

    Args:
        inserted: Documents that are new.
        replaced: Documents whose content has changed; their old passages are gone.
        unchanged: Documents that were stored before; they cost no embedding.
        empty: Identities of documents that gave no passage.
        passages: Passages stored.
        seconds: The time taken.
    """

    inserted: int = 0
    replaced: int = 0
    unchanged: int = 0
    empty: tuple[str, ...] = ()
    passages: int = 0
    seconds: float = 0.0

    @property
    def documents(self) -> int:
        """All documents that were gone through."""
        return self.inserted + self.replaced + self.unchanged + len(self.empty)


ProgressCallback: TypeAlias = Callable[[IngestProgress], None]


def print_progress(progress: IngestProgress) -> None:
    """Write one line of progress to standard error, over the one before."""
    total = "" if progress.documents_total is None else f"/{progress.documents_total}"
    left = progress.seconds_left
    time_left = "" if left is None else f", {left:.0f} s left"
    sys.stderr.write(
        f"\r{progress.documents_done}{total} documents, {progress.embedded} passages, {progress.rate:.0f}/s{time_left} "
    )
    if progress.documents_done == progress.documents_total:
        sys.stderr.write("\n")
    sys.stderr.flush()
