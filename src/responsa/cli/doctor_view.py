"""The doctor's rows as a table, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from responsa.doctor import Finding, Status

from . import json_view
from .tables import padded, width

if TYPE_CHECKING:
    from .terminal import Terminal

_STYLES: Final = {Status.OK: "green", Status.WARNING: "yellow", Status.FAULT: "bold red", Status.NOT_CHECKED: "dim"}


@dataclass(frozen=True, slots=True)
class Examined:
    """A server and its rows.

    Args:
        kind: "chat" or "embedding".
        url: Its address.
        findings: The rows.
    """

    kind: str
    url: str
    findings: Sequence[Finding]

    @property
    def faults(self) -> int:
        """How many things do not work."""
        return sum(finding.status == Status.FAULT for finding in self.findings)

    @property
    def warnings(self) -> int:
        """How many things work with a loss."""
        return sum(finding.status == Status.WARNING for finding in self.findings)


def show(examined: Sequence[Examined], terminal: Terminal) -> None:
    """Write a table for each server, what to do under each row, and the count of faults."""
    language = terminal.language
    states = {status: terminal.text(f"status_{status.value}") for status in Status}
    for one in examined:
        terminal.write(terminal.text(f"examined_{one.kind}", url=one.url), "bold")
        titles = [finding.title(language) for finding in one.findings]
        first, second = max(map(width, states.values())) + 2, max(map(width, titles)) + 2
        for finding, title in zip(one.findings, titles, strict=True):
            terminal.write(padded(states[finding.status], first), _STYLES[finding.status], end="")
            terminal.write(padded(title, second) + _in_one_line(finding.detail(language)))
            if finding.status != Status.NOT_CHECKED and (advice := finding.advice(language)):
                terminal.write(" " * (first + second) + "→ " + _in_one_line(advice), "bold")
    faults, warnings = sum(one.faults for one in examined), sum(one.warnings for one in examined)
    terminal.write(terminal.text("examined", faults=faults, warnings=warnings), "bold")


def write_json(examined: Sequence[Examined], language: str) -> None:
    """Print the rows as one JSON document."""
    json_view.write(
        {
            "faults": sum(one.faults for one in examined),
            "warnings": sum(one.warnings for one in examined),
            "servers": [
                {
                    "kind": one.kind,
                    "url": one.url,
                    "findings": [
                        {
                            "name": finding.name,
                            "status": finding.status.value,
                            "code": finding.code,
                            "detail": finding.detail(language),
                            "advice": finding.advice(language),
                            "values": dict(finding.values),
                        }
                        for finding in one.findings
                    ],
                }
                for one in examined
            ],
        }
    )


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
