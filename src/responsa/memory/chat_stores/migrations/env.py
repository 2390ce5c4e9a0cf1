"""Runs the steps on the connection it is given, within that connection's transaction."""

from __future__ import annotations

from alembic import context

from responsa.memory.chat_stores.sql_tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
)
with context.begin_transaction():
    context.run_migrations()
