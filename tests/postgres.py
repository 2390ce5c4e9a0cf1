"""A real PostgreSQL, started once a session where a test needs it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_schemas = count()

# Starts a server in a new directory, and ends both when its input ends: also when this process is killed.
_KEEPER = """
"$1/initdb" -D "$2/data" -U postgres -A trust -E UTF8 --locale=C -N >/dev/null 2>&1
options="-c listen_addresses='' -c unix_socket_directories=$2 -c fsync=off -c shared_buffers=16MB"
"$1/pg_ctl" -D "$2/data" -w -t 120 -l "$2/log" -o "$options" start >/dev/null 2>&1 && echo ready
read -r _
"$1/pg_ctl" -D "$2/data" -m immediate stop >/dev/null 2>&1
rm -rf "$2"
"""


def _programs() -> Path | None:
    """Where PostgreSQL's programs are, which Debian leaves out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


def _install() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        with suppress(subprocess.SubprocessError, OSError):
            quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 200}
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(["apt-get", "install", "-y", "postgresql"], env=environment, **quiet)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server of this test run's own, on a socket in a directory of its own."""
    if _programs() is None:
        _install()
    programs = _programs()
    if programs is None:
        message = "PostgreSQL is not installed and cannot be: apt-get install postgresql"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
    home = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    as_user: dict[str, Any] = {"cwd": "/", "start_new_session": True}
    if os.geteuid() == 0:  # the server refuses to run as root
        user = pwd.getpwnam("postgres")
        os.chown(home, user.pw_uid, user.pw_gid)
        as_user |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    command = ["sh", "-c", _KEEPER, "keeper", programs, home]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **as_user) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "ready\n", "PostgreSQL does not start"
        yield f"postgresql://postgres@/postgres?host={home}"
        keeper.communicate()


@pytest.fixture
def postgres_uri(postgres_server: str) -> Iterator[str]:
    """The address of an empty schema in a real PostgreSQL."""
    import psycopg

    schema = f"test_{next(_schemas)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        yield f"{postgres_server}&options=-csearch_path%3D{schema}"
        connection.execute(f"DROP SCHEMA {schema} CASCADE")
