"""The tables of conversations, as the newest migration leaves them."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Column, Double, ForeignKeyConstraint, Index, Integer, MetaData, String, Table, Text

# Keys come from outside and may be any text of any length, so rows are found by the fingerprints of keys; texts are
# kept as JSON strings in ASCII, since a database refuses some characters.
REVISION: Final = "0001"
VERSION_TABLE: Final = "responsa_chat_version"

metadata = MetaData()

sessions = Table(
    "responsa_chat_sessions",
    metadata,
    Column("session", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("updated", Double, nullable=False),
    Column("next_place", Integer, nullable=False),  # where the next message goes: no place is given twice
    Index("responsa_chat_sessions_updated", "updated"),
)

messages = Table(
    "responsa_chat_messages",
    metadata,
    Column("session", String(32), primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("turn_place", Integer, nullable=False),  # the place of the message that began the turn
    Column("message", String(32), nullable=False),
    Column("status", String(16), nullable=False),
    Column("content", Text, nullable=False),
    ForeignKeyConstraint(["session"], [sessions.c.session], ondelete="CASCADE"),
    Index("responsa_chat_messages_message", "session", "message", unique=True),
    Index("responsa_chat_messages_order", "session", "turn_place", "place"),
)

states = Table(
    "responsa_chat_states",
    metadata,
    Column("session", String(32), primary_key=True),
    Column("state", String(32), primary_key=True),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("content", Text, nullable=False),
    ForeignKeyConstraint(["session"], [sessions.c.session], ondelete="CASCADE"),
)
