"""The log: a JSON object a line, with the request it belongs to, and without secrets."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from ..settings import ServerSettings

REQUEST_ID: Final[ContextVar[str]] = ContextVar("request_id", default="")
"""The id of the request that is being served, also in what it set going."""

LOGGERS: Final = ("responsa", "uvicorn")
_HIDDEN: Final = "***"
_KEYS: Final = re.compile(r"\brsp_[0-9a-f]+_[\w-]+|(?<=Bearer )\S+|(?<=://)[^\s/@]+(?=@)", re.IGNORECASE)
# Shorter ones are ordinary words, such as the `none` that servers without keys are given.
_SHORTEST_SECRET: Final = 6


def secrets_of(settings: ServerSettings) -> frozenset[str]:
    """Return what must never be shown: the servers' keys, and passwords in their addresses."""
    found = set()
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            found.add(value.get_secret_value())
        elif name.endswith("api_base") and value and (password := urlsplit(value).password):
            found |= {password, unquote(password)}
    return frozenset(secret for secret in found if len(secret) >= _SHORTEST_SECRET)


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Args:
        secrets: Texts that are never written.
    """

    def __init__(self, secrets: Collection[str] = ()) -> None:
        super().__init__()
        self._secrets = sorted(secrets, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        request_id = REQUEST_ID.get()
        if request_id:
            line["request_id"] = request_id
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        shown = {name: self._shown(value) if isinstance(value, str) else value for name, value in line.items()}
        return json.dumps(shown, ensure_ascii=False, default=str)

    def _shown(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return _KEYS.sub(_HIDDEN, text)


@contextmanager
def logging_to_stderr(settings: ServerSettings) -> Iterator[None]:
    """Write the log of the service and of its web server to standard error, in place of who wrote it before."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(secrets_of(settings)))
    level = settings.log_level.upper()
    before = []
    for name in LOGGERS:
        logger = logging.getLogger(name)
        before.append((logger, logger.handlers[:], logger.level, logger.propagate))
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, handlers, old_level, propagates in before:
            logger.handlers[:] = handlers
            logger.setLevel(old_level)
            logger.propagate = propagates
