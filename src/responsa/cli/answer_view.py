"""An answer as a person watches it come: what was found, the text with its citations, the sources, warnings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from responsa.schema.calls import LLMCall
from responsa.schema.events import (
    CitationFound,
    Done,
    Event,
    PlanMade,
    QuestionRewritten,
    ReasoningDelta,
    SourcesFound,
    StepFinished,
    StepStarted,
    TextDelta,
)
from responsa.schema.plans import Plan
from responsa.schema.response import Outcome, Response

from . import places
from .items_view import ItemsView
from .marked_text import MarkedText, Piece, marked
from .plan_view import plan_line
from .sources_view import write_sources
from .terminal import one_line
from .trace_view import write_trace

if TYPE_CHECKING:
    from .terminal import Terminal


class AnswerView:
    """Shows the events of one answer.

    Drafts, which a later call may replace, are shown dimmed to a person who watches; where the output goes to a file
    or another program only the final answer is written.

    Args:
        terminal: Where to write.
        stream: Whether to write the answer as it comes; else when it is whole.
        trace: Whether to write a table of the calls at the end.
    """

    def __init__(self, terminal: Terminal, *, stream: bool = True, trace: bool = False) -> None:
        self._terminal = terminal
        self._streams = stream
        self._traces = trace
        self._plan = Plan(())
        self._calls_before = 0  # those that were made before the plan was known, to rewrite the question
        self._calls: dict[int, LLMCall] = {}
        self._texts: dict[int, MarkedText] = {}
        self._final: dict[int, str] = {}
        self._items = ItemsView(terminal)
        self._open_line = False
        self._reasons = False

    def show(self, event: Event) -> None:
        """Take one event and write what it brings."""
        match event:
            case PlanMade(plan):
                self._plan = plan
                self._calls_before = len(self._calls)
            case QuestionRewritten(rewritten=words):
                self._terminal.note("searched_with", words=one_line(words))
            case SourcesFound(nodes):
                found = self._terminal.text("found", passages=len(nodes), documents=places.documents_of(nodes))
                self._terminal.remark(found + self._terminal.text("comma") + plan_line(self._plan, self._terminal))
            case StepStarted(number, call):
                self._calls[number] = call
                self._begin(number, call)
            case ReasoningDelta() if not self._reasons:
                self._reasons = True
                self._terminal.note("reasoning")
            case TextDelta(text, number, provisional, None) if self._shows(provisional):
                if not provisional:
                    self._final[number] = self._final.get(number, "") + text
                self._write(self._text(number).feed(text), dim=provisional)
            case CitationFound(citation, number, provisional, None) if self._shows(provisional):
                self._write(self._text(number).cite(citation), dim=provisional)
            case CitationFound() | StepFinished() if self._calls[event.number].item is not None:
                self._items.take(event, self._calls[event.number])
            case StepFinished(number):
                self._end(number)
            case Done(response):
                self._finish(response)

    def close(self) -> None:
        """End the line that is being written, whatever ended the answer."""
        for number in list(self._texts):
            self._end(number)

    def _shows(self, provisional: bool) -> bool:
        return self._streams and (not provisional or self._terminal.interactive)

    def _text(self, number: int) -> MarkedText:
        return self._texts.setdefault(number, MarkedText())

    def _begin(self, number: int, call: LLMCall) -> None:
        if len(self._plan.calls) > 1:
            passages = ", ".join(str(passage) for passage in dict.fromkeys(span.number for span in call.spans))
            name = "step_with_passages" if passages else "step"
            calls = len(self._plan.calls)
            self._terminal.note(
                name, number=number + 1 - self._calls_before, calls=calls, stage=call.stage, passages=passages
            )

    def _end(self, number: int) -> None:
        text = self._texts.pop(number, None)
        if text is not None:
            call = self._calls.get(number)
            self._write(text.finish(), dim=call is not None and call.draft)
        self._end_line()

    def _end_line(self) -> None:
        if self._open_line:
            self._terminal.write("")
            self._open_line = False

    def _write(self, pieces: Iterable[Piece], *, dim: bool = False) -> None:
        for piece in pieces:
            text = piece.text
            if not self._open_line:
                text = text.lstrip()
            if text:
                self._terminal.write(text, "dim" if dim or piece.is_marker else "", end="")
                self._open_line = True

    def _finish(self, response: Response) -> None:
        terminal = self._terminal
        last = self._final[max(self._final)].strip() if self._final else ""
        if response.outcome is Outcome.NO_SOURCES:
            terminal.write(response.placeholder)
        elif not response.items and response.text != last:
            if self._final:
                terminal.note("replaced")
            self._write(marked(response.text, response.citations))
        self._end_line()
        if response.refused:
            terminal.note("refused")
        write_sources(response, terminal)
        if self._traces:
            write_trace(response.trace, terminal)
        for notice in response.warnings:
            terminal.remark(terminal.text("warning") + notice.render(terminal.language), "yellow")
