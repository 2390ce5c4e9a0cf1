"""Reading the JSON that a model wrote, bare or among other words."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any, Final

from ..schema.errors import StructuredOutputFailed

# Places in a text where JSON may begin that are looked at.
TRIES: Final = 64


def parse_json(text: str, *, only_objects: bool = False) -> Any:
    """Return the JSON value of an answer, also from within a fence or among words.

    Args:
        text: The answer.
        only_objects: Whether nothing but an object is meant: brackets among the words, such as `[1]`, are passed over.

    Raises:
        StructuredOutputFailed: There is none.
    """
    body = text.strip()
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        pass
    else:
        if isinstance(value, dict) or not only_objects:
            return value
    decoder = json.JSONDecoder()
    starts = (match.start() for match in re.finditer(r"\{" if only_objects else r"[{\[]", body))
    for start in itertools.islice(starts, TRIES):
        try:
            return decoder.raw_decode(body, start)[0]
        except (ValueError, RecursionError):
            continue
    raise StructuredOutputFailed("it holds no JSON object" if only_objects else "it holds no JSON", text)
