"""A statement of an answer and the source it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Origin: TypeAlias = Literal["model", "engine"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence of the answer tied to a piece of a passage.

    Args:
        number: The passage's number among the response's sources, from 1.
        node_id: The passage's identity; empty if the number is unknown.
        origin: "model" if the model wrote the marker, "engine" if it was attached for its support.
        sentence: Where the cited sentence stands in the answer, in characters (start, end).
        quote: Where the best supporting sentence stands in the passage's text, in characters (start, end).
        quoted: The text there.
        support: How much of the sentence's words, names and numbers the quoted text holds, from 0 to 1.
        known: Whether the number is one of the passages the model was shown.
    """

    number: int
    node_id: str
    origin: Origin
    sentence: tuple[int, int]
    quote: tuple[int, int] = (0, 0)
    quoted: str = ""
    support: float = 0.0
    known: bool = True
