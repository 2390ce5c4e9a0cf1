"""What the doctor found: one row for each thing looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..schema.errors import ResponsaError
from ..schema.substitution import substitute
from .advice_texts import ADVICE
from .finding_texts import DETAILS, ROWS


class Status(StrEnum):
    """How a thing stands."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at.

    Args:
        name: What was looked at, a key of `ROWS`.
        status: How it stands.
        code: What was found, a key of `DETAILS`.
        values: The numbers and names of the texts.
    """

    name: str
    status: Status
    code: str
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def title(self, language: str = "en") -> str:
        """Return what was looked at, in "en" or "zh"."""
        return _filled(ROWS[self.name], {}, language)

    def detail(self, language: str = "en") -> str:
        """Say what was found, in "en" or "zh"."""
        return _filled(DETAILS[self.code], self.values, language)

    def advice(self, language: str = "en") -> str:
        """Say what to do, in "en" or "zh"; empty where there is nothing to do."""
        texts = ADVICE.get(self.code)
        return "" if texts is None else _filled(texts, self.values, language)


def ok(name: str, code: str, **values: Any) -> Finding:
    """Return a row of something that is as it should be."""
    return Finding(name, Status.OK, code, values)


def warning(name: str, code: str, **values: Any) -> Finding:
    """Return a row of something that works, with a loss."""
    return Finding(name, Status.WARNING, code, values)


def fault(name: str, code: str, **values: Any) -> Finding:
    """Return a row of something that does not work."""
    return Finding(name, Status.FAULT, code, values)


def not_checked(name: str, code: str = "not_checked", **values: Any) -> Finding:
    """Return a row of something that could not be looked at."""
    return Finding(name, Status.NOT_CHECKED, code, values)


def _filled(texts: Mapping[str, str], values: Mapping[str, Any], language: str) -> str:
    shown = {name: _shown(value, language) for name, value in values.items()}
    return substitute(texts.get(language, texts["en"]), shown).strip()


def _shown(value: Any, language: str) -> str:
    if isinstance(value, ResponsaError):
        return value.render(language)
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "?" if value is None else str(value)
