"""What a program is going to ask, known before any model is asked; and how much of each source it shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .calls import LLMCall
from .completions import LLMMetadata
from .nodes import NodeWithScore
from .spans import Span


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call the program will make.

    Args:
        stage: What it is for.
        prompt_tokens: Its prompt's length; an upper bound where the prompt holds an earlier answer.
        max_tokens: The most tokens it may generate.
        spans: Which characters of which passages it shows.
        wave: Calls of the same number may run together; a wave begins when the one before has ended.
        visible: Whether its text is shown to the user as it comes.
    """

    stage: str
    prompt_tokens: int
    max_tokens: int
    spans: tuple[Span, ...] = ()
    wave: int = 0
    visible: bool = True

    @property
    def passages(self) -> tuple[int, ...]:
        """The numbers of the passages it shows, from 1."""
        return tuple(dict.fromkeys(span.number for span in self.spans))


class Shown(StrEnum):
    """How much of a source a model was shown."""

    WHOLE = "whole"
    CUT = "cut"
    NOT = "not"


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """How much of one source entered the prompts.

    Args:
        number: The source's number, from 1.
        node_id: Its passage's identity.
        shown: Whole, cut, or not at all.
        characters: How many of its characters were shown.
        total: How many it has.
    """

    number: int
    node_id: str
    shown: Shown
    characters: int
    total: int


def coverage_of(sources: Sequence[NodeWithScore], spans: Iterable[Span]) -> tuple[SourceCoverage, ...]:
    """Work out how much of each source the `spans` show; overlapping spans count once."""
    by_number: dict[int, list[tuple[int, int]]] = {}
    whole: set[int] = set()
    for span in spans:
        if span.whole:
            whole.add(span.number)
        else:
            by_number.setdefault(span.number, []).append((span.start, span.end))
    rows = []
    for number, source in enumerate(sources, 1):
        total = len(source.node.text)
        seen = total if number in whole else _union_length(by_number.get(number, ()))
        shown = Shown.WHOLE if number in whole or (seen and seen >= total) else Shown.CUT if seen else Shown.NOT
        rows.append(SourceCoverage(number, source.node.id_, shown, seen, total))
    return tuple(rows)


def _union_length(ranges: Iterable[tuple[int, int]]) -> int:
    length, reach = 0, 0
    for start, end in sorted(ranges):
        if end > reach:
            length += end - max(start, reach)
            reach = end
    return length


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls a program will make.

    Args:
        calls: One entry a call, in order.
        exact: Whether the number of calls is exact; else it is the most there can be.
        coverage: What the calls will show of each source.
        open_steps: Names of steps whose cost cannot be known, such as a user's own synthesizer.
        metadata: What the LLM is; its speeds, once seen, make the expected seconds.
    """

    calls: tuple[PlannedCall, ...]
    exact: bool = True
    coverage: tuple[SourceCoverage, ...] = ()
    open_steps: tuple[str, ...] = ()
    metadata: LLMMetadata | None = None

    @property
    def seconds(self) -> float | None:
        """The most seconds until the end, by the server's speed as last seen; None before it was."""
        return self._seconds_of(self.calls)

    @property
    def seconds_to_first_word(self) -> float | None:
        """The most seconds until the first word of an answer or a draft; None before the speed was seen."""
        first = next((n for n, call in enumerate(self.calls) if call.visible), None)
        if first is None:
            return self.seconds
        before = [call for call in self.calls if call.wave < self.calls[first].wave]
        return self._seconds_of([*before, replace(self.calls[first], max_tokens=1)])

    def _seconds_of(self, calls: Sequence[PlannedCall]) -> float | None:
        speeds = self.metadata
        if speeds is None or not speeds.prompt_speed or not speeds.output_speed:
            return None
        waves: dict[int, list[float]] = {}
        for call in calls:
            seconds = call.prompt_tokens / speeds.prompt_speed + call.max_tokens / speeds.output_speed
            waves.setdefault(call.wave, []).append(seconds)
        return sum(max(max(wave), sum(wave) / max(speeds.slots, 1)) for wave in waves.values())

    @property
    def by_stage(self) -> dict[str, int]:
        """The number of calls of each stage."""
        return dict(Counter(call.stage for call in self.calls))

    @property
    def prompt_tokens(self) -> int:
        """The most prompt tokens of all calls together."""
        return sum(call.prompt_tokens for call in self.calls)

    @property
    def max_tokens(self) -> int:
        """The most tokens all calls together may generate."""
        return sum(call.max_tokens for call in self.calls)

    def __str__(self) -> str:
        rows = [f"{'call':>4}  {'stage':<12}{'prompt':>8}{'answer':>8}  passages"]
        rows += [
            f"{number:>4}  {call.stage:<12}{call.prompt_tokens:>8}{call.max_tokens:>8}  "
            + ", ".join(map(str, call.passages))
            for number, call in enumerate(self.calls, 1)
        ]
        bound = "" if self.exact else "at most "
        rows.append(f"{bound}{len(self.calls)} calls, {self.prompt_tokens} prompt tokens, {self.max_tokens} to write")
        if self.seconds is not None and self.seconds_to_first_word is not None:
            rows.append(f"at most {self.seconds_to_first_word:.0f} s to the first word, {self.seconds:.0f} s in all")
        rows += [f"the cost of {name} is not known" for name in self.open_steps]
        return "\n".join(rows)


def planned(call: LLMCall, wave: int = 0) -> PlannedCall:
    """Return what a plan keeps of a call."""
    return PlannedCall(
        call.stage,
        call.most_prompt_tokens or call.prompt_tokens or 0,
        call.sampling.max_tokens or 0,
        call.spans,
        wave,
        call.visible,
    )
