"""What people say of answers: stored before it is told, changed by saying it again, taken back."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from typing import Any

from responsa.schema.errors import FeedbackNotFound
from responsa.schema.stored import new_id

from .database import Records


class Feedback:
    """The feedback of all keys.

    Args:
        records: Where it is kept.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    async def put(self, owner: str, target: str, content: Mapping[str, Any]) -> dict[str, Any]:
        """Store what an owner says of a target, in place of what they said of it before."""

        def step(connection: sqlite3.Connection) -> dict[str, Any]:
            row = connection.execute(
                "SELECT id FROM feedback WHERE owner = ? AND target = ?", (owner, target)
            ).fetchone()
            values = {**content, "id": row[0] if row else new_id(), "created": time.time()}
            text = json.dumps(values)
            connection.execute(
                "INSERT INTO feedback (id, owner, target, created, content) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET created = excluded.created, content = excluded.content",
                (values["id"], owner, target, values["created"], text),
            )
            return values

        return await self._records.run(step)

    async def remove(self, owner: str, feedback_id: str) -> None:
        """Take feedback back.

        Raises:
            FeedbackNotFound: The owner has none of that identity.
        """
        gone = await self._records.run(
            lambda connection: (
                connection.execute("DELETE FROM feedback WHERE id = ? AND owner = ?", (feedback_id, owner)).rowcount
            )
        )
        if not gone:
            raise FeedbackNotFound(feedback_id[:64])

    async def listed(self, owner: str | None, limit: int, offset: int) -> list[dict[str, Any]]:
        """Return an owner's feedback, or everyone's where None, newest first."""
        rows = await self._records.run(
            lambda connection: connection.execute(
                "SELECT content FROM feedback WHERE ? IS NULL OR owner = ? ORDER BY created DESC, id LIMIT ? OFFSET ?",
                (owner, owner, limit, offset),
            ).fetchall()
        )
        return [json.loads(text) for (text,) in rows]
