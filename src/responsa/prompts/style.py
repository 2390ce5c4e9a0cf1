"""How an answer is to be written, as far as its reader says: the end of a prompt, the same for every mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from responsa.schema.errors import InvalidOption
from responsa.schema.substitution import substitute

from . import en, zh
from .language import Language

Audience: TypeAlias = Literal["general", "expert"]
Length: TypeAlias = Literal["brief", "detailed"]

MAX_INSTRUCTIONS: Final = 2000
"""The most characters of a reader's own wishes."""

REASONING_START: Final = "<reasoning>"
"""What a model that was asked to reason first puts before its reasoning."""

REASONING_END: Final = "</reasoning>"
"""What it puts after it."""


@dataclass(frozen=True, slots=True)
class AnswerStyle:
    """How an answer is to be written.

    Args:
        audience: Whom it is for: "general" readers or an "expert".
        length: "brief" or "detailed".
        instructions: The reader's own wishes; they change how it is written, not what it rests on.

    Raises:
        InvalidOption: One of them is not such a value, or the wishes are too long.
    """

    audience: Audience | None = None
    length: Length | None = None
    instructions: str = ""

    def __post_init__(self) -> None:
        for name, known in (("audience", en.AUDIENCES), ("length", en.LENGTHS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise InvalidOption(name, value, " or ".join(known))
        if len(self.instructions) > MAX_INSTRUCTIONS:
            raise InvalidOption("instructions", f"{len(self.instructions)} characters", f"at most {MAX_INSTRUCTIONS}")

    def render(self, language: Language) -> str:
        """Return the words of a prompt for it; empty where nothing is wished."""
        texts = zh if language == "zh" else en
        wishes = []
        if self.audience is not None:
            wishes.append(texts.AUDIENCES[self.audience])
        if self.length is not None:
            wishes.append(texts.LENGTHS[self.length])
        own = " ".join(self.instructions.split())
        if own:
            wishes.append(substitute(texts.OWN_WISHES, {"wishes": own}))
        return substitute(texts.STYLE, {"wishes": " ".join(wishes)}) if wishes else ""


def think_first(language: Language) -> str:
    """Return the words that ask a model to reason first, between the markers."""
    return zh.THINK_FIRST if language == "zh" else en.THINK_FIRST
