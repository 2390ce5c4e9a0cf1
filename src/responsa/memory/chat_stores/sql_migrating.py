"""Bringing a chat database to the form that this version knows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text

from responsa.schema.errors import ChatStoreVersionMismatch

from .sql_tables import REVISION, VERSION_TABLE

_LOCK: Final = 0x7265_7370_6F6E_7361  # any number that nobody else locks by


def migrate(connection: Connection, location: str) -> None:
    """Make or change the tables, within the connection's transaction.

    Raises:
        ChatStoreVersionMismatch: A newer version of this package has changed them.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    found = _revision(connection)
    if found == REVISION:
        return
    if found is not None and found > REVISION:
        raise ChatStoreVersionMismatch(location, found, REVISION)
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, REVISION)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608
    return found
