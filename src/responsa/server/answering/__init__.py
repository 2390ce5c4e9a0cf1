"""From a request to the programs of the engine, and from what they give to JSON. No HTTP here."""

from __future__ import annotations

from .turn import Turn
from .writer import AnswerWriter

__all__ = ["AnswerWriter", "Turn"]
