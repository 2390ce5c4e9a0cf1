"""What to ask, as generators without I/O, and the drivers that run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports
from responsa.schema.calls import LLMCall

from .effects import (
    Count,
    Describe,
    Effect,
    Emit,
    Failed,
    Measure,
    Outcome,
    Perform,
    Program,
    ask,
    ask_all,
    count,
    describe,
    emit,
    measure,
    perform,
    warn,
)
from .plan import aplan, dry_run, plan
from .relaying import Relay, hidden, relayed
from .sync_driver import run, stream
from .trace import Recorder, traced

if TYPE_CHECKING:
    from .async_driver import arun, astream
    from .journal import Journal, replay

__all__ = [
    "Count",
    "Describe",
    "Effect",
    "Emit",
    "Failed",
    "Journal",
    "LLMCall",
    "Measure",
    "Outcome",
    "Perform",
    "Program",
    "Recorder",
    "Relay",
    "aplan",
    "arun",
    "ask",
    "ask_all",
    "astream",
    "count",
    "describe",
    "dry_run",
    "emit",
    "hidden",
    "measure",
    "perform",
    "plan",
    "relayed",
    "replay",
    "run",
    "stream",
    "traced",
    "warn",
]

if not TYPE_CHECKING:
    # asyncio takes as long to load as everything else that a synthesizer needs.
    homes = {"Journal": ".journal", "replay": ".journal", "arun": ".async_driver", "astream": ".async_driver"}
    __getattr__ = lazy_exports(__name__, homes)
