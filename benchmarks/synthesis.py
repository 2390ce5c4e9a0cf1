"""What synthesis costs beside what the peer's costs, in the same run: CPU, memory, packages, concurrency, first text.

Every figure is measured in a process of its own, with a model that answers at once and token counts that are not kept.
Where a figure is taken several times, the median stands. CPU seconds do not hang on what else the machine does, as far
as its cores are not shared by hyperthreads; wall seconds do.

Run: python benchmarks/synthesis.py [--passages 10000] [--repeat 3] [--without-peer]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from peer import peer_python

PROGRAMS: Final = Path(__file__).with_name("synthesis_programs")
SOURCE: Final = Path(__file__).parents[1] / "src"
MODES: Final = ("compact", "tree_summarize", "refine", "accumulate")
IMPORTING: Final = """
import json, sys, time
begin = time.process_time()
from {package} import get_response_synthesizer
seconds = time.process_time() - begin
pages = int(open("/proc/self/statm").read().split()[1])
print(json.dumps({{"seconds": seconds, "megabytes": pages * 4096 / 1e6, "modules": len(sys.modules)}}))
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: a figure of the peer's, ours, what is to be reached, and whether it is."""

    name: str
    peer: str
    ours: str
    to_reach: str
    reached: bool


class Bench:
    """Runs measurements, ours and the peer's, each in a process of its own.

    Args:
        peer: The interpreter of the peer's environment; None to leave the peer out.
        repeat: How often our figures are taken.
    """

    def __init__(self, peer: Path | None, repeat: int) -> None:
        self.peer = peer
        self.repeat = repeat
        self._cache = tempfile.mkdtemp(prefix="responsa-bench-")

    def run(self, python: Path | str, *arguments: str) -> dict[str, Any]:
        """Return what one process measured; its modules are compiled beforehand, and kept apart from others'."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(SOURCE), "PYTHONPYCACHEPREFIX": self._cache}
        done = subprocess.run([str(python), *arguments], env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return figures

    def ours(self, *arguments: str, python: Path | str = sys.executable) -> list[dict[str, Any]]:
        """Return our figures, taken several times."""
        program = str(PROGRAMS / "responsa_side.py")
        return [self.run(python, program, *arguments) for _ in range(self.repeat)]

    def peers(self, *arguments: str) -> dict[str, Any]:
        """Return the peer's figures, taken once; none without a peer."""
        return self.run(self.peer, str(PROGRAMS / "peer_side.py"), *arguments) if self.peer else {}

    def importing(self, package: str, python: Path | str) -> dict[str, float]:
        """Return what it costs to import the factory."""
        self.run(python, "-c", IMPORTING.format(package=package))
        taken = [self.run(python, "-c", IMPORTING.format(package=package)) for _ in range(3 * self.repeat)]
        return {name: statistics.median(one[name] for one in taken) for name in taken[0]}


def median(taken: Sequence[dict[str, Any]], name: str) -> float:
    return statistics.median(one[name] for one in taken)


def shown(figures: dict[str, Any], text: Callable[[dict[str, Any]], str]) -> str:
    return text(figures) if figures else "-"


def query_rows(bench: Bench, count: int) -> list[Row]:
    """Return the CPU seconds of each mode over many passages: by the estimate, and by the peer's tokenizer."""
    rows = []
    for mode in MODES:
        print(f"{mode} ...", file=sys.stderr)
        peer = bench.peers("query", mode, str(count))
        taken = bench.ours("query", mode, str(count), "estimate")
        seconds = median(taken, "seconds")
        cell = f"{seconds:.2f} s, {taken[0]['calls']} calls"
        if bench.peer:
            same = bench.ours("query", mode, str(count), "peer", python=bench.peer)
            cell += f"; {median(same, 'seconds'):.2f} s, {same[0]['calls']} calls by its tokenizer"
        told = shown(peer, lambda one: f"{one['seconds']:.1f} s, {one['calls']} calls")
        rows.append(Row(f"{mode}, {count} passages, CPU", told, cell, "<= 2.0 s", seconds <= 2.0))
    return rows


def smallest_row(bench: Bench) -> Row:
    ours = median(bench.ours("smallest"), "milliseconds")
    told = shown(bench.peers("smallest"), lambda one: f"{one['milliseconds']:.2f} ms")
    return Row("smallest compact query, CPU", told, f"{ours:.3f} ms", "<= 0.2 ms", ours <= 0.2)


def import_rows(bench: Bench) -> list[Row]:
    ours = bench.importing("responsa", sys.executable)
    peer = bench.importing("llama_index.core", bench.peer) if bench.peer else {}
    reached = ours["seconds"] <= 0.15 and ours["megabytes"] <= 35

    def told(one: dict[str, Any]) -> str:
        return f"{one['seconds']:.3f} s, {one['megabytes']:.0f} MB, {one['modules']:.0f} modules"

    return [Row("import of the factory, CPU and memory", shown(peer, told), told(ours), "<= 0.15 s, 35 MB", reached)]


def package_row(bench: Bench) -> Row:
    program = str(PROGRAMS / "packages.py")
    ours = bench.run(sys.executable, program, "responsa", str(SOURCE / "responsa"))
    peer = bench.run(bench.peer, program, "llama-index-core") if bench.peer else {}
    reached = ours["packages"] <= 12 and ours["megabytes"] <= 30

    def told(one: dict[str, Any]) -> str:
        return f"{one['packages']}, {one['megabytes']:.1f} MB"

    return Row("packages of the core", shown(peer, told), told(ours), "<= 12, 30 MB", reached)


def peak_row(bench: Bench) -> Row:
    ours = bench.ours("peak", "accumulate", "1000")[0]
    told = shown(bench.peers("peak", "accumulate", "1000"), lambda one: str(one["peak"]))
    reached = ours["peak"] == ours["setting"]
    return Row(
        "most calls at once, 1,000 passages", told, f"{ours['peak']} (set: {ours['setting']})", "the setting", reached
    )


def first_row(bench: Bench) -> Row:
    def told(one: dict[str, Any]) -> str:
        return f"{one['seconds']:.2f} of {one['whole']:.2f} s, {one['calls']} calls"

    ours = bench.ours("first_text", "10")[0]
    name = "first visible text, refine over 10 passages"
    return Row(name, shown(bench.peers("first_text", "10"), told), told(ours), "1 call", ours["calls"] == 1)


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [("figure", "LlamaIndex 0.14.23", "Responsa", "to reach", "reached"), ("---",) * 5]
    lines += [(row.name, row.peer, row.ours, row.to_reach, "yes" if row.reached else "NO") for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Measure, and print the table; the exit code says whether all was reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--without-peer", action="store_true")
    options = parser.parse_args()
    bench = Bench(None if options.without_peer else peer_python(), options.repeat)
    rows = [
        *query_rows(bench, options.passages),
        smallest_row(bench),
        *import_rows(bench),
        package_row(bench),
        peak_row(bench),
        first_row(bench),
    ]
    print(table(rows))
    sys.exit(not all(row.reached for row in rows))


if __name__ == "__main__":
    main()
