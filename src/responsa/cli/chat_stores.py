"""Where the terminal program keeps conversations."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING, Final

from .tables import table
from .terminal import one_line

if TYPE_CHECKING:
    from responsa.schema.protocols import ChatStore

    from .terminal import Terminal

_DATABASE_ENDINGS: Final = (".db", ".sqlite", ".sqlite3")


def opened(where: str | None, stack: ExitStack) -> ChatStore:
    """Return the store at a path or address, closed with `stack`; the user's own file where none is given."""
    from responsa.local.user_dirs import data_dir
    from responsa.memory import SimpleChatStore, SQLAlchemyChatStore

    if where is None:
        directory = data_dir()
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        return SimpleChatStore(directory / "chats.jsonl")
    if "://" in where or where.endswith(_DATABASE_ENDINGS):
        return stack.enter_context(SQLAlchemyChatStore(where))
    return SimpleChatStore(where)


def list_sessions(store: ChatStore, terminal: Terminal) -> int:
    """Write a line for each conversation, last written first; return the exit code."""
    sessions = store.list_sessions()
    if not sessions:
        terminal.note("chat_none", place=store.location)
        return 0
    rows = [
        [one_line(one.id), datetime.fromtimestamp(one.updated).strftime("%Y-%m-%d %H:%M"), one_line(one.title)]
        for one in sessions
    ]
    terminal.write(table(terminal.text("chat_list_header").split("|"), rows))
    return 0
