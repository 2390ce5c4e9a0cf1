"""Reading vectors from a server's reply, which is not trusted."""

from __future__ import annotations

import array
import base64
import binascii
import math
import sys
from typing import Any

from ..http.messages import Reply
from ..schema.errors import BadResponse


def read_vectors(reply: Reply, expected: int) -> list[list[float]]:
    """Return the vectors of an embeddings reply in the order of the texts.

    Args:
        reply: The reply.
        expected: How many texts were sent.

    Raises:
        BadResponse: There are more or fewer, of different lengths, or they hold no finite numbers.
    """
    data = reply.object().get("data")
    if not isinstance(data, list) or len(data) != expected:
        found = len(data) if isinstance(data, list) else 0
        raise BadResponse(reply.url, f"{found} vectors for {expected} texts")
    vectors: list[list[float] | None] = [None] * expected
    for place, entry in enumerate(data):
        if not isinstance(entry, dict):
            raise BadResponse(reply.url, "an entry of the data is not an object")
        index = entry.get("index", place)
        if not isinstance(index, int) or not 0 <= index < expected or vectors[index] is not None:
            raise BadResponse(reply.url, f"a vector has the index {index!r}")
        vectors[index] = _vector(entry.get("embedding"), reply.url)
    whole = [vector for vector in vectors if vector is not None]
    if len({len(vector) for vector in whole}) > 1:
        raise BadResponse(reply.url, "vectors of different lengths")
    return whole


def _vector(value: Any, url: str) -> list[float]:
    try:
        numbers = _from_base64(value) if isinstance(value, str) else [float(number) for number in value]
    except (ValueError, TypeError, OverflowError, binascii.Error) as error:
        raise BadResponse(url, "a vector that is no list of numbers") from error
    if not numbers or not math.isfinite(math.fsum(map(abs, numbers))):
        raise BadResponse(url, "a vector that is empty or not finite")
    return numbers


def _from_base64(text: str) -> list[float]:
    numbers = array.array("f", base64.b64decode(text, validate=True))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()
