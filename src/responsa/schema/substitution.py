"""Filling the `{name}`s of a text in a single pass, so that no value is ever read as a template."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

VARIABLE: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def substitute(template: str, values: Mapping[str, object]) -> str:
    """Put `values` into the `{name}`s of `template` that they name; braces that name none of them stay."""
    return VARIABLE.sub(lambda match: str(values.get(match[1], match[0])), template)
