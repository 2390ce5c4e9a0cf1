"""A plan as a person reads it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from responsa.schema.nodes import NodeWithScore
from responsa.schema.plans import Plan

from . import places
from .tables import table

if TYPE_CHECKING:
    from .terminal import Terminal


def plan_line(plan: Plan, terminal: Terminal) -> str:
    """Return the calls and tokens of a plan in one line, and the seconds where the server's speed was seen."""
    name = "planned_exactly" if plan.exact else "planned_at_most"
    line = terminal.text(name, calls=len(plan.calls), prompt=plan.prompt_tokens, answer=plan.max_tokens)
    if plan.seconds is not None:
        line += terminal.text("comma") + terminal.text("planned_seconds", seconds=math.ceil(plan.seconds))
    return line


def write_plan(plan: Plan, sources: Sequence[NodeWithScore], terminal: Terminal) -> None:
    """Write what would be shown to the model, and every call it would be asked."""
    if not sources:
        terminal.write(terminal.text("nothing_found"))
    shown = {row.number: row.shown.value for row in plan.coverage}
    for number, source in enumerate(sources, 1):
        mark = terminal.text(f"shown_{shown.get(number, 'not')}")
        terminal.write(f"[{number}] {places.title(source)}", "bold", end="")
        terminal.write(f" {mark}", "dim")
        terminal.write(f"    {places.place(source, terminal)}", "dim")
    if plan.calls:
        terminal.write("")
    write_calls(plan, terminal)


def write_calls(plan: Plan, terminal: Terminal) -> None:
    """Write every call the model would be asked."""
    header = terminal.text("plan_header").split("|")
    rows = [
        [str(number), call.stage, str(call.prompt_tokens), str(call.max_tokens), _numbers(call.passages)]
        for number, call in enumerate(plan.calls, 1)
    ]
    if rows:
        terminal.write(table(header, rows) + "\n")
    terminal.write(plan_line(plan, terminal))
    for step in plan.open_steps:
        terminal.write(terminal.text("cost_unknown", step=step))


def _numbers(passages: Sequence[int]) -> str:
    return ", ".join(map(str, passages))
