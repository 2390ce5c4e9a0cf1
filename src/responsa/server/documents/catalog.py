"""What is known of each document that was sent."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias

from responsa.schema.errors import DocumentNotFound
from responsa.schema.stored import new_id

from ..records.database import Records

DocumentState: TypeAlias = Literal["waiting", "indexed", "unreadable", "deleting"]


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document.

    Args:
        index: The index it is in.
        name: What its sender calls it; one of that name in the index takes the place of another.
        media_type: What it is, by its content.
        n_bytes: How large it is.
        sha256: The hash of its content.
        id: Its identity.
        state: Whether its content is in the index.
        parts: How many documents it gave: pages, entries, or itself.
        created: When it was first sent, in seconds since 1970 (UTC).
        updated: When it was last sent or indexed, in seconds since 1970 (UTC).
    """

    index: str
    name: str
    media_type: str
    n_bytes: int
    sha256: str
    id: str = field(default_factory=new_id)
    state: DocumentState = "waiting"
    parts: int = 0
    created: float = field(default_factory=time.time)
    updated: float = field(default_factory=time.time)


class Catalog:
    """The documents of all indexes.

    Args:
        records: Where it is kept.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    async def put(self, record: DocumentRecord, keep_content: Callable[[str], None]) -> DocumentRecord:
        """Store a record; one of that name in that index keeps its identity and is changed.

        Args:
            record: The record.
            keep_content: Keeps the content of the document of that identity; no other is sent under its name meanwhile.
        """

        def step(connection: sqlite3.Connection) -> DocumentRecord:
            row = connection.execute(
                "SELECT content FROM documents WHERE index_name = ? AND name = ?", (record.index, record.name)
            ).fetchone()
            known = DocumentRecord(**json.loads(row[0])) if row else record
            stored = replace(record, id=known.id, created=known.created, parts=known.parts)
            keep_content(stored.id)
            _write(connection, stored)
            return stored

        return await self._records.run(step)

    async def get(self, document_id: str) -> DocumentRecord:
        """Return a record.

        Raises:
            DocumentNotFound: There is none of that identity.
        """
        found = await self.some([document_id])
        if not found:
            raise DocumentNotFound(document_id[:64])
        return found[0]

    async def some(self, document_ids: Sequence[str]) -> list[DocumentRecord]:
        """Return those records that are there, in that order."""
        return await self._records.run(lambda connection: _some(connection, document_ids))

    async def listed(self, index: str, limit: int, offset: int) -> list[DocumentRecord]:
        """Return an index's records by name."""
        rows = await self._records.run(
            lambda connection: connection.execute(
                "SELECT content FROM documents WHERE index_name = ? ORDER BY name LIMIT ? OFFSET ?",
                (index, limit, offset),
            ).fetchall()
        )
        return [DocumentRecord(**json.loads(text)) for (text,) in rows]

    async def ids(self, index: str) -> list[str]:
        """Return the identities of all of an index's records, oldest first."""
        rows = await self._records.run(
            lambda connection: connection.execute(
                "SELECT id FROM documents WHERE index_name = ? ORDER BY created, id", (index,)
            ).fetchall()
        )
        return [document_id for (document_id,) in rows]

    async def change(self, document_id: str, **fields: Any) -> None:
        """Change fields of a record if it is there."""

        def step(connection: sqlite3.Connection) -> None:
            for record in _some(connection, [document_id]):
                _write(connection, replace(record, updated=time.time(), **fields))

        await self._records.run(step)

    async def exchange(self, changes: Sequence[tuple[DocumentRecord, DocumentRecord]]) -> None:
        """Store records, each in place of the one that was seen if that is what is stored still."""

        def step(connection: sqlite3.Connection) -> None:
            for seen, record in changes:
                if _some(connection, [seen.id]) == [seen]:
                    _write(connection, replace(record, updated=time.time()))

        await self._records.run(step)

    async def remove_deleted(self, document_ids: Sequence[str], remove_content: Callable[[str], None]) -> None:
        """Remove those records that are to be deleted still, and first the content of each.

        Args:
            document_ids: Whose records.
            remove_content: Removes the content of a document; nobody can send it again meanwhile.
        """

        def step(connection: sqlite3.Connection) -> None:
            for record in _some(connection, document_ids):
                if record.state == "deleting":
                    remove_content(record.id)
                    connection.execute("DELETE FROM documents WHERE id = ?", (record.id,))

        await self._records.run(step)


def _some(connection: sqlite3.Connection, document_ids: Sequence[str]) -> list[DocumentRecord]:
    rows = [connection.execute("SELECT content FROM documents WHERE id = ?", (one,)).fetchone() for one in document_ids]
    return [DocumentRecord(**json.loads(row[0])) for row in rows if row]


def _write(connection: sqlite3.Connection, record: DocumentRecord) -> None:
    connection.execute(
        "INSERT INTO documents (id, index_name, name, created, content) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET content = excluded.content",
        (record.id, record.index, record.name, record.created, json.dumps(asdict(record))),
    )
