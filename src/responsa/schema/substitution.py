"""Filling the `{name}`s of a text in a single pass, so that no value is ever read as a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

VARIABLE: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def substitute(template: str, values: Mapping[str, object]) -> str:
    """Put `values` into the `{name}`s of `template` that they name; braces that name none of them stay."""
    parts = list(_parts(template))
    for place in range(1, len(parts), 2):
        name = parts[place]
        parts[place] = str(values[name]) if name in values else f"{{{name}}}"
    return "".join(parts)


def names_in(template: str) -> tuple[str, ...]:
    """Return the names of a template's variables, in order."""
    return _parts(template)[1::2]


@lru_cache(maxsize=512)
def _parts(template: str) -> tuple[str, ...]:
    """Return the texts of a template and, between them, the names of its variables."""
    return tuple(VARIABLE.split(template))
