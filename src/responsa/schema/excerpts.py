"""The beginning of a text, where only a line of it is shown."""

from __future__ import annotations


def excerpt(text: str, characters: int, mark: str = "…") -> str:
    """Return a text's beginning in one line of at most so many characters, ended by `mark` where something is left out.

    However long the text is, only its beginning is looked at.
    """
    beginning = text[: 4 * characters]
    line = " ".join(beginning.split())
    if len(line) <= characters and len(beginning) == len(text):
        return line
    return line[: max(characters - len(mark), 1)].rstrip() + mark
