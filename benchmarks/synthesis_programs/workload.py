"""What both sides are given: real English text in passages of 1,000 characters, and a model that answers at once."""

from __future__ import annotations

from pathlib import Path

DOCUMENTS = Path(__file__).parents[2] / "src" / "responsa" / "samples" / "documents" / "en"
CHARACTERS = 1000
WINDOW, NUM_OUTPUT = 8192, 512
QUESTION = "What is a crate, and how is it related to a package?"
ANSWER = "A crate is the smallest unit the compiler takes at a time [1]. A package holds one or more of them [2]."
SHORT_PASSAGE = "A package is a bundle of one or more crates."


def passages(count: int) -> list[str]:
    """Return `count` passages, no two alike."""
    text = "\n".join(path.read_text("utf-8") for path in sorted(DOCUMENTS.rglob("*.md")))
    room = len(text) - CHARACTERS
    return [text[start : start + CHARACTERS] for start in (number * 977 % room for number in range(count))]
