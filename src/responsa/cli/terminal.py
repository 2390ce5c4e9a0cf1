"""Where the program writes: answers to standard output, everything about them to standard error."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from .texts import TEXTS

if TYPE_CHECKING:
    from rich.console import Console

    from .language import Language
    from .parts import Parts

# What a terminal would take as a command: texts of documents, models and servers must not move the cursor.
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_PLACE: Final = re.compile(r"\{(\w+)(?::(\w+))?\}")


def printable(text: str) -> str:
    """Return `text` without control characters; line ends and tabs stay."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Return `text` as one line without control characters."""
    return " ".join(printable(text).split("\n"))


class Terminal:
    """The program's two outputs and its language.

    Args:
        language: "en" or "zh".
        given_parts: Where commands get models and indexes; the real ones where None.

    Attributes:
        as_json: Whether standard output is for a program: one JSON document, also for an error.
    """

    def __init__(self, language: Language, given_parts: Parts | None = None) -> None:
        self.language = language
        self.as_json = False
        self._parts = given_parts

    @property
    def parts(self) -> Parts:
        """Where commands get models and indexes."""
        if self._parts is None:
            from .parts import Parts

            self._parts = Parts()
        return self._parts

    @cached_property
    def out(self) -> Console:
        """Standard output."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """Standard error."""
        return _console(stderr=True)

    @property
    def interactive(self) -> bool:
        """Whether a person watches the answer come."""
        return self.out.is_terminal

    def text(self, name: str, /, **values: object) -> str:
        """Return one of the program's own texts in its language."""
        return _PLACE.sub(lambda place: _filled(values[place[1]], place[2]), TEXTS[name][self.language])

    def write(self, text: str, style: str = "", *, end: str = "\n") -> None:
        """Write to standard output as it is, without wrapping."""
        self._print(self.out, text, style, end)

    def remark(self, text: str, style: str = "dim", *, end: str = "\n") -> None:
        """Write to standard error, beside the answer."""
        self._print(self.err, text, style, end)

    def note(self, name: str, /, **values: object) -> None:
        """Write one of the program's own texts to standard error."""
        self.remark(self.text(name, **values))

    def error(self, message: str, code: str = "failed", details: Mapping[str, Any] | None = None) -> None:
        """Write what went wrong as one line, and for a program as JSON on standard output.

        No package is needed, since a missing one may be what went wrong.

        Args:
            message: The sentence.
            code: A stable name of what went wrong.
            details: Its numbers and names.
        """
        if self.as_json:
            from .json_view import write_error

            write_error(code, message, details or {})
        sys.stdout.flush()
        sys.stderr.write(f"{self.text('error')}{one_line(message)}\n")
        sys.stderr.flush()

    def interrupted(self) -> None:
        """Say that the program was interrupted."""
        if self.as_json:
            from .json_view import write_error

            write_error("interrupted", self.text("interrupted"), {})
        self.note("interrupted")

    def _print(self, console: Console, text: str, style: str, end: str) -> None:
        options: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False, "soft_wrap": True}
        console.print(printable(text), style=style or None, end=end, **options)


def _filled(value: object, thing: str | None) -> str:
    if thing is None:
        return str(value)
    return f"{value} {thing}" if value == 1 else f"{value} {thing}s"


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)
