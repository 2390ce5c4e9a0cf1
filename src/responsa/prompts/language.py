"""The language a text is written in, as far as our prompts and answers need it."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

Language: TypeAlias = Literal["en", "zh"]
LanguageChoice: TypeAlias = Literal["auto", "en", "zh"]  # "auto" is that of what is said

_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_LATIN_WORD: Final = re.compile(r"[A-Za-z]+")


def detect_language(text: str) -> Language:
    """Tell whether `text` is Chinese or not.

    A Chinese question often holds English names, so each Han character weighs as much as an English word.

    Returns:
        "zh" if at least as many Han characters as Latin words stand in its first 2,000 characters, else "en".
    """
    head = text[:2000]
    han = len(_HAN.findall(head))
    return "zh" if han and han >= len(_LATIN_WORD.findall(head)) else "en"
