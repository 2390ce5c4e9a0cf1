"""Ending in order whichever way the program is asked to end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


class Ended(KeyboardInterrupt):
    """The program is to end, not only what it does now."""


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end what runs inside as Ctrl-C does, so that what it holds is freed."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # A signal that is ignored, as nohup wants it, stays ignored.
    before = {number: signal.getsignal(number) for number in numbers if signal.getsignal(number) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise Ended
