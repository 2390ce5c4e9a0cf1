"""Tags with a thousand attributes: no page needs one, and the parser's time grows with the square of their number."""

from __future__ import annotations

import re
from typing import Final

MOST_ATTRIBUTES: Final = 1000

_ATTRIBUTE: Final = r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)?+)?+"""
_ATTRIBUTES: Final = re.compile(_ATTRIBUTE)
# Nothing in it is ever tried a second time, so that it takes time in proportion to the text's length.
_TAG: Final = re.compile(rf"(<[a-zA-Z][^\s/>]*+)((?:{_ATTRIBUTE})*+)")


def without_long_tags(text: str) -> str:
    """Return a page's text, tags with more than `MOST_ATTRIBUTES` attributes without any."""
    return _TAG.sub(_shortened, text)


def _shortened(tag: re.Match[str]) -> str:
    name, attributes = tag.groups()
    if len(attributes) <= 2 * MOST_ATTRIBUTES:
        return tag[0]
    count = sum(1 for _ in _ATTRIBUTES.finditer(attributes))
    return str(name) if count > MOST_ATTRIBUTES else tag[0]
