"""The steps of a chat store as SQL, for SQLite and PostgreSQL alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Select, and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from responsa.schema.errors import ChatStoreDamaged, InvalidOption, MessageNotFound, SessionNotFound
from responsa.schema.identity import fingerprint
from responsa.schema.stored import MessageStatus, Session, SessionState, StoredMessage, title_of

from .conversations import as_interrupted, check_new
from .serialization import stored_from_json, stored_to_json, to_text
from .sql_tables import messages as message_table
from .sql_tables import sessions as session_table
from .sql_tables import states as state_table

_Row: TypeAlias = Row[Any]


class SQLRepository:
    """Conversations in a database, within one transaction.

    Every change of a session first locks the session's row, so that they follow one another, whatever process they
    come from.

    Args:
        connection: A connection in a transaction.
        location: Where the database is, for messages.
    """

    def __init__(self, connection: Connection, location: str) -> None:
        self._connection = connection
        self._location = location

    def listed(self, limit: int | None, offset: int, prefix: str) -> list[Session]:
        order = session_table.c.updated.desc(), session_table.c.session
        wanted = select(session_table)
        if prefix:
            begin = to_text("prefix", prefix)[:-1]  # a JSON string without its closing quote
            wanted = wanted.where(func.substr(session_table.c.name, 1, len(begin)) == begin)
        rows = self._connection.execute(wanted.order_by(*order).limit(limit).offset(offset))
        return [self._session(row) for row in rows]

    def found(self, session_id: str) -> Session | None:
        row = self._connection.execute(_session_row(session_id)).first()
        return None if row is None else self._session(row)

    def messages(self, session_id: str) -> list[StoredMessage]:
        found: list[StoredMessage] = []
        turn = ""
        for row in self._connection.execute(_in_order(session_id)):
            begins = row.place == row.turn_place
            message = replace(self._message(row), turn="" if begins else turn)
            turn = message.id if begins else turn
            found.append(message)
        return found

    def states(self, session_id: str) -> dict[str, SessionState]:
        rows = self._connection.execute(select(state_table).where(state_table.c.session == fingerprint(session_id)))
        return {self._text(row.name): SessionState(self._value(row.content), row.version) for row in rows}

    def create(self, now: float, session_id: str, title: str) -> Session:
        return self._session(self._begun(now, session_id, title))

    def rename(self, now: float, session_id: str, title: str) -> Session:
        row = self._locked(session_id)
        self._update(session_id, now, title=to_text("title", title))
        return replace(self._session(row), title=title, updated=now)

    def delete(self, session_id: str) -> bool:
        gone = delete(session_table).where(session_table.c.session == fingerprint(session_id))
        return self._connection.execute(gone).rowcount > 0

    def fork(self, now: float, session_id: str, upto: str, new_id: str, title: str | None) -> Session:
        origin = self._locked(session_id)
        end = self._place_of(session_id, upto)
        name = origin.title if title is None else to_text("title", title)
        if not self._insert_session(new_id, now, name, origin.next_place):
            raise InvalidOption("new_session_id", new_id, "the key of no session yet")
        copy = fingerprint(new_id)
        rows = self._connection.execute(_in_order(session_id).where(_not_behind(end))).all()
        self._insert_all(message_table, [{**row._mapping, **self._copied(row), "session": copy} for row in rows])
        kept = self._connection.execute(select(state_table).where(state_table.c.session == origin.session)).all()
        self._insert_all(state_table, [{**row._mapping, "session": copy} for row in kept])
        return Session(new_id, self._text(name), now, now)

    def add(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        contents = [_content(message) for message in messages]
        session = self._begun(now, session_id, "")
        keys = [fingerprint(message.id) for message in messages]
        taken = select(message_table.c.message).where(
            message_table.c.session == session.session, message_table.c.message.in_(keys)
        )
        there = set(self._connection.execute(taken).scalars())
        check_new([message.id for message in messages], [one.id for one in messages if fingerprint(one.id) in there])
        beginners = self._beginners(session.session, [message.turn for message in messages if message.turn])
        rows = []
        for place, (message, key, content) in enumerate(zip(messages, keys, contents, strict=True), session.next_place):
            turn_place = beginners.get(fingerprint(message.turn), place) if message.turn else place
            if turn_place == place:
                beginners[key] = place
            rows.append(
                {
                    "session": session.session,
                    "place": place,
                    "turn_place": turn_place,
                    "message": key,
                    "status": message.status,
                    "content": content,
                }
            )
        self._insert_all(message_table, rows)
        title = self._text(session.title) or next(filter(None, map(title_of, messages)), "")
        self._update(session_id, now, title=to_text("title", title), next_place=session.next_place + len(rows))

    def replace(self, now: float, session_id: str, message: StoredMessage, expected: MessageStatus | None) -> bool:
        content = _content(message)
        if self._connection.execute(_session_row(session_id).with_for_update()).first() is None:
            return False
        change = update(message_table).where(
            message_table.c.session == fingerprint(session_id), message_table.c.message == fingerprint(message.id)
        )
        if expected is not None:
            change = change.where(message_table.c.status == expected)
        done = self._connection.execute(change.values(status=message.status, content=content)).rowcount > 0
        if done:
            self._update(session_id, now)
        return done

    def set(self, now: float, session_id: str, messages: Sequence[StoredMessage]) -> None:
        session = self._begun(now, session_id, "")
        for table in (message_table, state_table):
            self._connection.execute(delete(table).where(table.c.session == session.session))
        self.add(now, session_id, messages)

    def truncate(self, now: float, session_id: str, message_id: str, including: bool) -> int:
        session = self._locked(session_id)
        end = self._place_of(session_id, message_id)
        behind = ~_not_behind(end)
        if including:
            behind = or_(behind, message_table.c.place == end[1])
        gone = delete(message_table).where(message_table.c.session == session.session, behind)
        removed = self._connection.execute(gone).rowcount
        self._update(session_id, now)
        return removed

    def set_state(self, now: float, session_id: str, name: str, value: Any, expected_version: int) -> bool:
        content = to_text("value", value)
        if expected_version and self.found(session_id) is None:
            return False
        session = self._begun(now, session_id, "")
        key = {"session": session.session, "state": fingerprint(name)}
        mine = and_(*(state_table.c[column] == part for column, part in key.items()))
        version = self._connection.execute(select(state_table.c.version).where(mine)).scalar() or 0
        if version != expected_version:
            return False
        values = {"version": version + 1, "content": content}
        if version:
            self._connection.execute(update(state_table).where(mine).values(values))
        else:
            self._connection.execute(insert(state_table).values({**key, **values, "name": to_text("name", name)}))
        return True

    def _begun(self, now: float, session_id: str, title: str) -> _Row:
        """Return a session's row, locked; begin the session if it is not there."""
        while True:
            row = self._connection.execute(_session_row(session_id).with_for_update()).first()
            if row is not None:
                return row
            self._insert_session(session_id, now, to_text("title", title), 0)

    def _insert_session(self, session_id: str, now: float, title: str, next_place: int) -> bool:
        values = {
            "session": fingerprint(session_id),
            "name": to_text("session_id", session_id),
            "title": title,
            "created": now,
            "updated": now,
            "next_place": next_place,
        }
        dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
        new = dialect.insert(session_table).values(values).on_conflict_do_nothing()
        return self._connection.execute(new.returning(session_table.c.session)).first() is not None

    def _locked(self, session_id: str) -> _Row:
        row = self._connection.execute(_session_row(session_id).with_for_update()).first()
        if row is None:
            raise SessionNotFound(self._location, session_id)
        return row

    def _update(self, session_id: str, now: float, **values: Any) -> None:
        mine = update(session_table).where(session_table.c.session == fingerprint(session_id))
        self._connection.execute(mine.values(updated=now, **values))

    def _insert_all(self, table: Any, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(insert(table), rows)

    def _beginners(self, session: str, turns: Sequence[str]) -> dict[str, int]:
        """Return the places of those messages that begin a turn, by fingerprint."""
        if not turns:
            return {}
        query = select(message_table.c.message, message_table.c.place).where(
            message_table.c.session == session,
            message_table.c.message.in_([fingerprint(turn) for turn in turns]),
            message_table.c.place == message_table.c.turn_place,
        )
        return {row.message: row.place for row in self._connection.execute(query)}

    def _place_of(self, session_id: str, message_id: str) -> tuple[int, int]:
        row = self._connection.execute(
            select(message_table.c.turn_place, message_table.c.place).where(
                message_table.c.session == fingerprint(session_id), message_table.c.message == fingerprint(message_id)
            )
        ).first()
        if row is None:
            raise MessageNotFound(self._location, session_id, message_id)
        return row.turn_place, row.place

    def _copied(self, row: _Row) -> dict[str, str]:
        """Return what is different in a copy of a message: nobody goes on writing to it."""
        if row.status != "partial":
            return {}
        ended = as_interrupted(self._message(row), "forked")
        return {"status": ended.status, "content": _content(ended)}

    def _session(self, row: _Row) -> Session:
        return Session(self._text(row.name), self._text(row.title), row.created, row.updated)

    def _message(self, row: _Row) -> StoredMessage:
        try:
            return stored_from_json(json.loads(row.content))
        except ValueError as error:
            raise ChatStoreDamaged(self._location, f"message {row.message}: {error}") from error

    def _text(self, content: str) -> str:
        value = self._value(content)
        if not isinstance(value, str):
            raise ChatStoreDamaged(self._location, "a name that is no text")
        return value

    def _value(self, content: str) -> Any:
        try:
            return json.loads(content)
        except ValueError as error:
            raise ChatStoreDamaged(self._location, str(error)) from error


def _session_row(session_id: str) -> Select[Any]:
    return select(session_table).where(session_table.c.session == fingerprint(session_id))


def _in_order(session_id: str) -> Select[Any]:
    mine = select(message_table).where(message_table.c.session == fingerprint(session_id))
    return mine.order_by(message_table.c.turn_place, message_table.c.place)


def _not_behind(end: tuple[int, int]) -> Any:
    """Return the condition that a message stands at a place or before it."""
    turn_place, place = end
    same_turn = and_(message_table.c.turn_place == turn_place, message_table.c.place <= place)
    return or_(message_table.c.turn_place < turn_place, same_turn)


def _content(message: StoredMessage) -> str:
    return to_text("message", stored_to_json(message))
