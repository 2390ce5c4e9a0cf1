"""How a reference mark is written, such as `[1]`, `[1, 3]`, `【2】`, `[1-3]`: parts of patterns that look for marks."""

from __future__ import annotations

from typing import Final

OPENING: Final = r"[\[【]"
CLOSING: Final = r"[\]】]"
NUMBER: Final = r"\d{1,4}"
# What stands between two numbers of one mark: in a list, and also in a range.
COMMAS: Final = ",，、"
COMMAS_AND_DASHES: Final = rf"{COMMAS}\-–"
MOST_NUMBERS: Final = 20
