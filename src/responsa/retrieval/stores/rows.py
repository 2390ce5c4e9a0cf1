"""Passages as rows of a table, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from hashlib import blake2b
from typing import Any, Final

from responsa.schema.filters import number_of
from responsa.schema.nodes import TextNode

_PLAIN: Final = {field.name: getattr(TextNode(), field.name) for field in fields(TextNode) if field.name != "embedding"}
_LONGEST_LABEL: Final = 100


def node_to_json(node: TextNode) -> str:
    """Write a passage as JSON, without what has its usual value, without its vector."""
    values = {name: value for name, plain in _PLAIN.items() if (value := getattr(node, name)) != plain}
    return _json(values)


def node_from_json(text: str) -> TextNode:
    """Read a passage that `node_to_json` wrote; ValueError or TypeError where it is something else."""
    return TextNode(**json.loads(text))


def stored_id(identity: str) -> str:
    """Return an identity as UTF-8 can hold it: file names may have halves of surrogate pairs."""
    if identity.startswith("\0") or not _is_unicode(identity):
        return "\0" + json.dumps(identity)
    return identity


def restored_id(stored: str) -> str:
    """Return the identity that `stored_id` was given."""
    return str(json.loads(stored[1:])) if stored.startswith("\0") else stored


def labels(metadata: Mapping[str, Any]) -> list[str]:
    """Return a label for each value that can be asked for by equality, and each item that a list holds."""
    found: list[str] = []
    for key, value in metadata.items():
        if isinstance(value, list | tuple):
            found += (label for item in value if (label := item_label(str(key), item)) is not None)
        elif (label := value_label(str(key), value)) is not None:
            found.append(label)
    return found


def value_label(key: str, value: Any) -> str | None:
    """Return the label of a metadata value; equal for equal values, None for what is never equal to anything."""
    return _label(key, "=", value)


def item_label(key: str, item: Any) -> str | None:
    """Return the label of an item in a list that is a metadata value."""
    return _label(key, "~", item)


def numbers_json(metadata: Mapping[str, Any]) -> str:
    """Return the metadata's numbers as a JSON object."""
    return _json(
        {passable(str(key)): number for key, value in metadata.items() if (number := number_of(value)) is not None}
    )


def texts_json(metadata: Mapping[str, Any]) -> str:
    """Return the metadata's texts as a JSON object."""
    return _json({passable(str(key)): passable(value) for key, value in metadata.items() if isinstance(value, str)})


def passable(text: str) -> str:
    """Return the text with question marks for what has no UTF-8."""
    return text if _is_unicode(text) else text.encode("utf-8", "replace").decode("utf-8")


def _label(key: str, relation: str, value: Any) -> str | None:
    if isinstance(value, bool):
        shown = f"b{value}"
    elif (number := number_of(value)) is not None:
        shown = f"n{number + 0.0!r}"  # so that -0.0 is 0.0
    elif isinstance(value, str):
        shown = f"s{value}"
    else:
        return None
    label = f"{len(key)}:{key}{relation}{shown}"
    if len(label) > _LONGEST_LABEL or not _is_unicode(label):
        return blake2b(label.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return label


_READABLE: Final = json.JSONEncoder(ensure_ascii=False, default=str)
_ESCAPED: Final = json.JSONEncoder(default=str)


def _json(values: Mapping[str, Any]) -> str:
    text = _READABLE.encode(values)
    return text if _is_unicode(text) else _ESCAPED.encode(values)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
