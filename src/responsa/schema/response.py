"""The response: the answer, and what happened on the way to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from .calls import CallRecord
from .citations import Citation
from .completions import Usage
from .excerpts import excerpt
from .nodes import NodeWithScore
from .notices import Notice
from .plans import SourceCoverage


class Outcome(StrEnum):
    """How an answer came out. A search that failed, or a first step that did, is an error and not an outcome.

    INTERRUPTED is what was read of a streamed answer that its reader closed.
    """

    ANSWERED = "answered"
    NO_SOURCES = "no_sources"
    REFUSED = "refused"
    STEP_FAILED = "step_failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class AnswerItem:
    """One of several independent answers.

    Args:
        index: Its place, from 0.
        text: The answer.
        value: The object, where an output class was asked for.
        numbers: The numbers of the passages it was asked about, from 1.
        source_nodes: Those passages.
        error: What it failed with, if it did.
    """

    index: int
    text: str
    value: Any = None
    numbers: tuple[int, ...] = ()
    source_nodes: tuple[NodeWithScore, ...] = ()
    error: Exception | None = None


@dataclass(slots=True)
class Response:
    """An answer with its sources, and everything that happened.

    Args:
        response: The answer's text; empty where there is none.
        source_nodes: The passages retrieved, numbered from 1 in this order by `citations` and `coverage`.
        metadata: Each passage's metadata by its identity.
        outcome: How the answer came out.
        language: The language of the fixed sentences, "en" or "zh".
        value: The object, where an output class was asked for.
        items: The independent answers of the accumulate modes.
        trace: Every call with its messages, spans, usage, timings and finish reason.
        coverage: For every source whether it entered a prompt whole, cut, or not at all.
        warnings: What the reader should know.
        grounded: Whether the answer was written from the passages.
        placeholder: What `str` gives in place of an empty answer.
        searched_with: What the search was made with, where it was not the question itself.
    """

    response: str | None
    source_nodes: list[NodeWithScore] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    outcome: Outcome = Outcome.ANSWERED
    language: str = "en"
    value: Any = None
    items: tuple[AnswerItem, ...] = ()
    trace: tuple[CallRecord, ...] = ()
    coverage: tuple[SourceCoverage, ...] = ()
    warnings: tuple[Notice, ...] = ()
    grounded: bool = True
    placeholder: str = ""
    searched_with: str | None = None
    cite: Callable[[Response], tuple[Citation, ...]] | None = field(default=None, repr=False, compare=False)
    _citations: tuple[Citation, ...] | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def text(self) -> str:
        """The answer's text; empty where there is none."""
        return self.response or ""

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The answer's sentences tied to their sources, worked out when first read."""
        if self._citations is None:
            self._citations = self.cite(self) if self.cite is not None else ()
        return self._citations

    @property
    def refused(self) -> bool:
        """Whether the model said that the passages hold no answer."""
        return self.outcome is Outcome.REFUSED

    @property
    def usage(self) -> Usage:
        """The tokens of all calls together, as far as the server counted them."""
        usages = [record.completion.usage for record in self.trace if record.completion is not None]
        return Usage(
            sum(usage.prompt_tokens or 0 for usage in usages),
            sum(usage.completion_tokens or 0 for usage in usages),
            sum(usage.cached_tokens or 0 for usage in usages),
        )

    @property
    def reasoning(self) -> str:
        """The model's reasoning in the call that gave the answer."""
        answered = [record.completion for record in self.trace if record.completion and record.call.visible]
        return answered[-1].reasoning if answered else ""

    def get_formatted_sources(self, length: int = 100) -> str:
        """Return the sources, a paragraph each, with at most `length` characters of each text."""
        return format_sources(self.source_nodes, length)

    def __str__(self) -> str:
        return self.text or self.placeholder


def format_sources(source_nodes: list[NodeWithScore], length: int = 100, *, trim_text: bool = True) -> str:
    """Return sources, a paragraph each, with at most `length` characters of each text, or with all of it."""

    def shown(text: str) -> str:
        if not trim_text:
            return text
        return excerpt(text, length, mark="...")

    return "\n\n".join(f"> Source (Doc id: {source.node_id}): {shown(source.text)}" for source in source_nodes)
