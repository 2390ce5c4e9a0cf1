"""The store in a database: its tables, its engines, its failures."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from tests.memory.support import texts, user

from responsa.memory import SQLAlchemyChatStore
from responsa.memory.chat_stores import sql_tables
from responsa.schema.errors import ChatStoreDamaged, ChatStoreUnavailable, ChatStoreVersionMismatch, InvalidOption

BIN = Path(sys.executable).parent


@pytest.fixture(params=["sqlite", "postgresql"])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        address: str = request.getfixturevalue("postgres_uri")
        return address
    return f"sqlite:///{tmp_path / 'chats.db'}"


def engine_of(store: SQLAlchemyChatStore) -> Any:
    return store._engines.sync()


def test_the_migrations_make_the_tables_that_the_store_uses(uri: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with SQLAlchemyChatStore(uri) as store:
        store.list_sessions()
        with engine_of(store).connect() as connection:
            context = MigrationContext.configure(
                connection,
                opts={
                    "version_table": sql_tables.VERSION_TABLE,
                    "compare_type": True,
                    "include_object": lambda thing, name, *_: str(name).startswith("responsa_chat"),
                },
            )
            assert compare_metadata(context, sql_tables.metadata) == []
            assert context.get_current_revision() == sql_tables.REVISION


def test_the_newest_migration_is_the_form_that_the_store_knows() -> None:
    from alembic.script import ScriptDirectory

    migrations = Path(sql_tables.__file__).with_name("migrations")
    script = ScriptDirectory(str(migrations))
    assert script.get_current_head() == sql_tables.REVISION
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)  # they are compared as texts


def test_a_database_of_a_newer_version_is_refused(uri: str) -> None:
    with SQLAlchemyChatStore(uri) as store:
        store.add_message("a", user("hello"))
        with engine_of(store).begin() as connection:
            connection.exec_driver_sql(f"UPDATE {sql_tables.VERSION_TABLE} SET version_num = '9999'")
    with SQLAlchemyChatStore(uri) as store, pytest.raises(ChatStoreVersionMismatch) as caught:
        store.list_sessions()
    assert (caught.value.found, caught.value.expected) == ("9999", sql_tables.REVISION)


def test_many_may_open_an_empty_database_at_once(uri: str) -> None:
    code = (
        "import sys\n"
        "from responsa.memory import SQLAlchemyChatStore\n"
        "from responsa.schema.messages import ChatMessage\n"
        "with SQLAlchemyChatStore(sys.argv[1]) as store: store.add_message('a', ChatMessage('user', sys.argv[2]))"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, uri, str(number)]) for number in range(3)]
    assert [process.wait(200) for process in processes] == [0, 0, 0]
    with SQLAlchemyChatStore(uri) as store:
        assert sorted(texts(store.list_messages("a"))) == ["0", "1", "2"]


def test_one_store_serves_threads_and_event_loops_at_once(uri: str) -> None:
    with SQLAlchemyChatStore(uri) as store:
        errors: list[BaseException] = []

        def blocking(name: str) -> None:
            for number in range(8):
                store.add_message("s", user(f"{name}{number}"))

        def asynchronous(name: str) -> None:
            async def main() -> None:
                await asyncio.gather(*(store.aadd_message("s", user(f"{name}{number}")) for number in range(8)))

            asyncio.run(main())
            asyncio.run(main_again(name))

        async def main_again(name: str) -> None:
            await store.aadd_message("s", user(f"{name}again"))

        def run(work: Any, name: str) -> None:
            try:
                work(name)
            except BaseException as error:
                errors.append(error)

        threads = [
            threading.Thread(target=run, args=(work, name))
            for work, name in ((blocking, "a"), (asynchronous, "b"), (blocking, "c"), (asynchronous, "d"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        stored = texts(store.list_messages("s"))
        assert len(stored) == len(set(stored)) == 4 * 8 + 2
        for name in "ac":
            mine = [text for text in stored if text[0] == name]
            assert mine == [f"{name}{number}" for number in range(8)]


def test_the_asynchronous_methods_never_block_the_loop(tmp_path: Path) -> None:
    async def main() -> None:
        async with SQLAlchemyChatStore(tmp_path / "chats.db") as store:
            await store.aadd_message("a", user("hello"))
            with blockbuster_ctx():
                await store.aadd_message("a", user("again"))
                assert len(await store.alist_messages("a")) == 2

    asyncio.run(main())


def test_a_cancelled_write_is_whole_or_not_there_and_leaves_nothing_locked(uri: str) -> None:
    async def main() -> None:
        async with SQLAlchemyChatStore(uri) as store:
            await store.aadd_message("a", user("first"))
            for steps in range(0, 40, 3):
                task = asyncio.ensure_future(store.aadd_messages("a", [user("x"), user("y")]))
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
            await store.aadd_message("a", user("last"))
            stored = texts(await store.alist_messages("a"))
            assert stored[0] == "first"
            assert stored[-1] == "last"
            assert stored[1:-1] == ["x", "y"] * (len(stored[1:-1]) // 2)

    asyncio.run(main())


def test_a_fork_of_the_process_opens_connections_of_its_own(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from responsa.memory import SQLAlchemyChatStore\n"
        "from responsa.schema.messages import ChatMessage\n"
        "store = SQLAlchemyChatStore(sys.argv[1])\n"
        "store.add_message('a', ChatMessage('user', 'parent'))\n"
        "child = os.fork()\n"
        "store.add_message('a', ChatMessage('user', 'child' if child == 0 else 'after'))\n"
        "os._exit(0) if child == 0 else sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(tmp_path / "chats.db")], check=True)
    with SQLAlchemyChatStore(tmp_path / "chats.db") as store:
        assert sorted(texts(store.list_messages("a"))) == ["after", "child", "parent"]


def test_sqlite_is_set_up_for_several_processes(tmp_path: Path) -> None:
    with SQLAlchemyChatStore(tmp_path / "chats.db") as store:
        store.add_message("a", user("hello"))
        with engine_of(store).connect() as connection:
            read = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                for name in ("journal_mode", "busy_timeout", "synchronous", "foreign_keys")
            }
    assert read == {"journal_mode": "wal", "busy_timeout": 30_000, "synchronous": 2, "foreign_keys": 1}


def test_a_reader_is_not_held_up_by_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    with SQLAlchemyChatStore(path) as store:
        store.add_message("a", user("hello"))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert texts(store.list_messages("a")) == ["hello"]
        other.execute("ROLLBACK")
        other.close()


def test_a_database_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    path.write_bytes(b"something else entirely, and long enough to be looked at as a header" * 20)
    with SQLAlchemyChatStore(path) as store, pytest.raises(ChatStoreDamaged, match="not a database"):
        store.list_sessions()
    assert path.read_bytes().startswith(b"something else")


def test_a_row_that_holds_no_message_is_told(uri: str) -> None:
    with SQLAlchemyChatStore(uri) as store:
        store.add_message("a", user("hello"))
        with engine_of(store).begin() as connection:
            connection.exec_driver_sql("UPDATE responsa_chat_messages SET content = '[]'")
        with pytest.raises(ChatStoreDamaged):
            store.list_messages("a")


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("{tmp}/missing/chats.db", "unable to open"),
        ("{tmp}", "unable to open"),
        ("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=2", "refused"),
    ],
)
def test_a_database_that_cannot_be_reached_is_told(tmp_path: Path, where: str, reason: str) -> None:
    store = SQLAlchemyChatStore(where.format(tmp=tmp_path))
    for call in (lambda: store.list_sessions(), lambda: asyncio.run(store.aadd_message("a", user("x")))):
        with pytest.raises(ChatStoreUnavailable, match=reason) as caught:
            call()
        assert "secret" not in str(caught.value)
    store.close()


def test_a_full_disk_is_told_and_what_was_stored_is_kept(tmp_path: Path) -> None:
    with SQLAlchemyChatStore(tmp_path / "chats.db") as store:
        store.add_message("a", user("hello"))
        with engine_of(store).connect() as connection:  # the pool gives this connection to the store again
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
        with pytest.raises(ChatStoreUnavailable, match="full"):
            store.add_messages("a", [user("x"), user("y" * 1_000_000)])
        assert texts(store.list_messages("a")) == ["hello"]


@pytest.mark.parametrize(
    "uri",
    ["sqlite://", "sqlite:///:memory:", ":memory:", "mysql://localhost/chats", "://", "sqlite:///file:x?mode=memory"],
)
def test_an_address_that_cannot_serve_is_refused(uri: str) -> None:
    with pytest.raises(InvalidOption, match="database_uri"):
        SQLAlchemyChatStore(uri)


@pytest.mark.parametrize("address", ["postgresql+asyncpg://u:pw@h/d", "postgresql://u:pw@h/d"])
def test_any_driver_named_in_the_address_gives_way_to_ours(address: str) -> None:
    store = SQLAlchemyChatStore(address)
    assert "pw" not in store.location
    assert store._engines._sync_url.drivername == store._engines._async_url.drivername == "postgresql+psycopg"


def test_the_database_is_loaded_only_when_it_is_used() -> None:
    code = (
        "import sys, responsa.memory\n"
        "responsa.memory.Memory()\n"
        "heavy = {'sqlalchemy', 'alembic', 'aiosqlite', 'psycopg', 'numpy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_packages_are_named() -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from responsa.memory.chat_stores import SimpleChatStore\n"
        "try: from responsa.memory import SQLAlchemyChatStore\n"
        "except ImportError as error: assert 'responsa[chat]' in str(error), error\n"
        "else: raise SystemExit(1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no mode there")
@pytest.mark.parametrize("is_async", [False, True])
def test_conversations_are_their_owners_alone(tmp_path: Path, is_async: bool) -> None:
    path = tmp_path / "chats.db"

    async def listed(store: SQLAlchemyChatStore) -> None:
        await store.alist_sessions()
        await store.aclose()

    with SQLAlchemyChatStore(path) as store:
        if is_async:
            asyncio.run(listed(store))
        else:
            store.list_sessions()
        assert {file.stat().st_mode & 0o777 for file in tmp_path.glob("chats.db*")} == {0o600}
