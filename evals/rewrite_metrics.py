"""How a rewritten question is scored against a human's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from responsa.chat_engine.rewriting import lost_parts

# English by word, Chinese by character.
_UNIT: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")


def units(text: str) -> list[str]:
    """Return the words of an English text and the characters of a Chinese one, without signs, in lower case."""
    return _UNIT.findall(text.casefold())


def rouge1_recall(text: str, reference: str) -> float:
    """Return the share of the reference's units that the text holds, each as often as there at most."""
    wanted = Counter(units(reference))
    return sum((wanted & Counter(units(text))).values()) / max(wanted.total(), 1)


def best_recall(text: str, references: Sequence[str]) -> float:
    """Return the ROUGE-1 recall against the reference that is nearest."""
    return max(rouge1_recall(text, reference) for reference in references)


def keeps_all(text: str, origin: str) -> bool:
    """Tell whether a text holds every number, quoted text and Latin name of another."""
    return not lost_parts(text, origin)


def mean(values: Sequence[float]) -> float:
    """Return the mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0
