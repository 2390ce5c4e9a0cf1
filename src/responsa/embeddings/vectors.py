"""Reading vectors from a server's reply, which is not trusted."""

from __future__ import annotations

import array
import base64
import binascii
import sys
from collections.abc import Sequence
from typing import Any, Final

from ..http.failures import error_fields, failure_of_error, status_of_error
from ..http.messages import Reply
from ..schema.errors import BadResponse
from ..schema.excerpts import excerpt

# Vectors are kept as numbers of single precision, which end here.
_LARGEST: Final = 3.4e38
_EXCERPT_CHARACTERS: Final = 80


def read_vectors(reply: Reply, expected: int) -> list[list[float]]:
    """Return the vectors of an embeddings reply in the order of the texts.

    Args:
        reply: The reply.
        expected: How many texts were sent.

    Raises:
        BadResponse: There are more or fewer, or they hold something else than finite numbers.
        ServerError: The reply holds an error in place of vectors.
    """
    body = reply.object()
    data = body.get("data")
    if data is None and body.get("error"):
        fields, message = error_fields(body)
        raise failure_of_error(reply.url, status_of_error(fields), fields, message).error
    if not isinstance(data, list) or len(data) != expected:
        found = len(data) if isinstance(data, list) else 0
        raise BadResponse(reply.url, f"{found} vectors for {expected} texts")
    vectors: list[list[float] | None] = [None] * expected
    for place, entry in enumerate(data):
        if not isinstance(entry, dict):
            raise BadResponse(reply.url, "an entry of the data is not an object")
        index = entry.get("index", place)
        if not isinstance(index, int) or not 0 <= index < expected or vectors[index] is not None:
            raise BadResponse(reply.url, f"a vector has the index {excerpt(repr(index), _EXCERPT_CHARACTERS)}")
        vectors[index] = _vector(entry.get("embedding"), reply.url)
    return [vector for vector in vectors if vector is not None]


def check_lengths(vectors: Sequence[Sequence[float]], url: str) -> None:
    """Raise `BadResponse` unless all vectors, also those of different replies, have the same length."""
    if len(set(map(len, vectors))) > 1:
        raise BadResponse(url, "vectors of different lengths")


def _vector(value: Any, url: str) -> list[float]:
    try:
        numbers = _from_base64(value) if isinstance(value, str) else _from_list(value)
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise BadResponse(url, "a vector that is no list of numbers") from error
    if not numbers or not sum(map(abs, numbers)) <= _LARGEST:
        raise BadResponse(url, "a vector that is empty or not finite")
    return numbers


def _from_list(value: Any) -> list[float]:
    if not isinstance(value, list) or not {*map(type, value)} <= {int, float}:
        raise TypeError("not a list of numbers")
    return list(map(float, value))


def _from_base64(text: str) -> list[float]:
    numbers = array.array("f", base64.b64decode(text, validate=True))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()
