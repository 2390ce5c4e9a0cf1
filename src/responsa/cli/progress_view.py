"""How far an ingest has come: a bar for a person who watches, now and then a line otherwise."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from responsa.retrieval.progress import IngestProgress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from .reading import Reading
    from .terminal import Terminal

# Where nobody watches a bar, a line is written this often, in seconds.
LINE_SECONDS: Final = 10.0


class ProgressView:
    """Shows files and passages done, their rate, and the time left.

    Args:
        terminal: Where to write.
        reading: The files being read.
    """

    def __init__(self, terminal: Terminal, reading: Reading) -> None:
        self._terminal = terminal
        self._reading = reading
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._last_line = time.monotonic()

    def __enter__(self) -> Self:
        if self._terminal.err.is_terminal and not self._terminal.as_json:
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

            line = TextColumn("{task.fields[line]}", markup=False)
            self._bar = Progress(BarColumn(), TaskProgressColumn(), line, console=self._terminal.err, transient=True)
            self._task = self._bar.add_task("", total=max(self._reading.total_bytes, 1), line="")
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: IngestProgress) -> None:
        """Take the state after a batch."""
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=self._reading.done_bytes, line=self._line(progress))
        elif not self._terminal.as_json and time.monotonic() - self._last_line >= LINE_SECONDS:
            self._last_line = time.monotonic()
            self._terminal.remark(self._line(progress))

    def _line(self, progress: IngestProgress) -> str:
        terminal, reading = self._terminal, self._reading
        parts = [
            terminal.text("progress_files", done=len(reading.files), total=reading.total_files),
            terminal.text("progress_rate", passages=progress.embedded, rate=f"{progress.rate:.1f}"),
        ]
        done = reading.done_bytes
        if 0 < done < reading.total_bytes:
            left = progress.seconds * (reading.total_bytes - done) / done
            parts.append(terminal.text("time_left", time=_clock(left)))
        return terminal.text("comma").join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
