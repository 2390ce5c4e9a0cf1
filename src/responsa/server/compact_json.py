"""JSON as events and replies carry it."""

from __future__ import annotations

import json
from typing import Any


def compact_json(value: Any) -> str:
    """Return a value as JSON in one line, as a server-sent event needs it; what JSON has no form for as text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
