"""The calls that were made, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from responsa.schema.calls import CallRecord

from .tables import table

if TYPE_CHECKING:
    from .terminal import Terminal


def write_trace(trace: Sequence[CallRecord], terminal: Terminal) -> None:
    """Write a line a call: its stage, tokens, seconds and how it ended."""
    if not trace:
        return
    header = terminal.text("trace_header").split("|")
    terminal.write("\n" + terminal.text("trace"), "bold")
    terminal.write(table(header, [_row(record, terminal) for record in trace]))


def _row(record: CallRecord, terminal: Terminal) -> list[str]:
    done = record.completion
    if done is None:
        reason = terminal.text("call_failed", error=type(record.error).__name__)
        return [str(record.number + 1), record.call.stage, _number(record.call.prompt_tokens), *["-"] * 4, reason]
    return [
        str(record.number + 1),
        record.call.stage,
        _number(done.usage.prompt_tokens if done.usage.prompt_tokens is not None else record.call.prompt_tokens),
        _number(done.usage.completion_tokens),
        _number(done.usage.cached_tokens),
        _seconds(done.timings.first_token),
        _seconds(done.timings.total),
        done.finish_reason or "-",
    ]


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
