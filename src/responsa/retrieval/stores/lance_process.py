"""What LanceDB makes of the process it runs in: its notices, and its memory where the C library is glibc."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from responsa.schema.errors import MissingExtra

_M_ARENA_MAX: Final = -8  # from glibc's malloc.h
# Bytes read ahead and threads that read (the usual 2 GiB and 8 hold a whole index of files in memory), and a notice.
_OPTIONS: Final = {
    "LANCE_DEFAULT_IO_BUFFER_SIZE": str(16 << 20),
    "LANCE_IO_THREADS": "2",
    "LANCE_INCLUDE_VECTOR_CENTROIDS": "false",
}


def load_lancedb() -> Any:
    """Return LanceDB; loading it takes two seconds the first time.

    Raises:
        MissingExtra: It is not installed.
    """
    prepare_process()
    try:
        import lancedb
        from lancedb import background_loop  # noqa: F401
    except ImportError as error:
        raise MissingExtra("LanceDB", "local") from error
    return lancedb


@cache
def prepare_process() -> None:
    """Bound what LanceDB holds in memory, and keep its notice of a default to itself; what the environment says stands.

    LanceDB frees in one thread what it took in another. With glibc's heap for every thread, most of such memory is
    never used again: an ingest of 85,000 passages grew to 970 MB, and takes 580 with one heap and small buffers.
    """
    for name, value in _OPTIONS.items():
        os.environ.setdefault(name, value)
    if "MALLOC_ARENA_MAX" not in os.environ and (set_option := _from_glibc("mallopt")):
        set_option(_M_ARENA_MAX, 1)


def release_memory() -> None:
    """Give memory that is free back to the system, before something that needs much of it in one piece."""
    if trim := _from_glibc("malloc_trim"):
        trim(0)


def _from_glibc(name: str) -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    function: Callable[..., int] | None = getattr(ctypes.CDLL(None), name, None)  # another C library has none
    return function
