"""Which characters of which passage stand in a prompt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a passage as it was shown to the model.

    Args:
        number: The passage's number in this answer, from 1: what the model writes as `[number]`.
        node_id: The passage's identity.
        start: Where the piece starts in the passage's text, in characters.
        end: Where it ends, exclusive.
        whole: Whether the piece is all of the passage.
    """

    number: int
    node_id: str
    start: int
    end: int
    whole: bool
