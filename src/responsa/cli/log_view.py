"""The package's own warnings, as remarks beside the answer."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .terminal import one_line

if TYPE_CHECKING:
    from .terminal import Terminal


@contextmanager
def log_shown(terminal: Terminal) -> Iterator[None]:
    """Show what the package warns of, one line each; where nobody listens Python would write stack traces too."""
    logger, handler = logging.getLogger("responsa"), _Remarks(terminal)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Remarks(logging.Handler):
    def __init__(self, terminal: Terminal) -> None:
        super().__init__(logging.WARNING)
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        """Write one warning."""
        self._terminal.remark(one_line(record.getMessage()))
