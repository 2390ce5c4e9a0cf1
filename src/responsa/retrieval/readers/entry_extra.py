"""What a knowledge entry holds besides its known fields: kept and given back with it, never searched or shown."""

from __future__ import annotations

import json
import re
from typing import Any, Final

MOST_CHARACTERS: Final = 4000
"""The most characters of it as JSON: every passage of an entry carries it."""
MOST_LEVELS: Final = 8
"""The most objects and lists inside one another."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def checked_extra(value: Any) -> dict[str, Any]:
    """Return an entry's extra, as JSON has it.

    Args:
        value: What was given, from JSON.

    Raises:
        ValueError: It is no object, too large, too deep, or holds a number that JSON has not.
    """
    if not isinstance(value, dict):
        raise ValueError("not an object")
    if is_deeper(value, MOST_LEVELS):
        raise ValueError(f"more than {MOST_LEVELS} levels deep")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"more than {MOST_CHARACTERS} characters as JSON")
    checked: dict[str, Any] = json.loads(_SURROGATES.sub("\ufffd", text))
    return checked


def is_deeper(value: Any, levels: int) -> bool:
    """Tell whether objects and lists stand inside one another at more than so many levels."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        return False
    return levels == 0 or any(is_deeper(one, levels - 1) for one in inner)
