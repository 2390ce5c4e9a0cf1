"""The reading of one call's stream: its pieces become events, and in the end a completion."""

from __future__ import annotations

from time import perf_counter, time

from responsa.schema.calls import LLMCall
from responsa.schema.completions import Completion, Delta, Finish, StreamItem, Timings
from responsa.schema.errors import ResponsaError, StreamInterrupted
from responsa.schema.events import Event, ReasoningDelta, StepFinished, StepStarted, TextDelta

from .effects import Failed, as_step_error
from .marked_reasoning import MarkedReasoning


class CallReader:
    """Folds the stream of one call; knows nothing of how the stream is read.

    Args:
        number: The call's number in its run, from 0.
        call: The call.
    """

    __slots__ = (
        "_finish",
        "_first",
        "_held",
        "_marked",
        "_reasoning",
        "_released",
        "_sent",
        "_sent_at",
        "_text",
        "call",
        "number",
    )

    def __init__(self, number: int, call: LLMCall) -> None:
        self.number = number
        self.call = call
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._marked = MarkedReasoning() if call.marked_reasoning else None
        self._finish = Finish()
        self._held = ""
        self._released = False
        self._sent = perf_counter()
        self._sent_at = time()
        self._first: float | None = None

    def start(self) -> Event:
        """Return the event that the call is about to be sent."""
        return StepStarted(self.number, self.call)

    def feed(self, item: StreamItem) -> list[Event]:
        """Take one item of the stream and return what it means to a listener."""
        if isinstance(item, Finish):
            self._finish = item
            return []
        if self._first is None:
            self._first = perf_counter() - self._sent
        if self._marked is None or not item.text:
            return self._delta(item)
        return [
            event
            for delta in [Delta(reasoning=item.reasoning), *self._marked.feed(item.text)]
            for event in self._delta(delta)
        ]

    def _delta(self, delta: Delta) -> list[Event]:
        events: list[Event] = []
        if delta.reasoning:
            self._reasoning.append(delta.reasoning)
            events.append(ReasoningDelta(delta.reasoning, self.number, self.call.item))
        if delta.text:
            self._text.append(delta.text)
            if self.call.visible:
                events += self._shown(delta.text, ended=False)
        return events

    def _shown(self, text: str, *, ended: bool) -> list[Event]:
        """Return the event of a piece of text, or none for as long as it is held back.

        White space before the first word is no part of an answer, which may replace one that has words.
        """
        if not self._released:
            text = self._held = (self._held + text).lstrip()
            if not text or (self.call.hold_back is not None and self.call.hold_back(text, ended)):
                return []
            self._released = True
        return [TextDelta(text, self.number, self.call.draft, self.call.item)] if text else []

    def complete(self) -> tuple[Completion, list[Event]]:
        """Return the whole completion and the events of the call's end."""
        finish = self._finish
        rest = self._marked.close(finished=finish.reason != "length") if self._marked is not None else []
        events = [event for delta in rest for event in self._delta(delta)]
        completion = Completion(
            "".join(self._text),
            "".join(self._reasoning),
            finish.reason,
            finish.usage,
            Timings(
                self._first,
                perf_counter() - self._sent,
                finish.timings.server_prompt,
                finish.timings.server_predicted,
                self._sent_at,
            ),
            finish.model,
        )
        events += self._shown("", ended=True) if self.call.visible else []
        events.append(StepFinished(self.number, self.call.stage, completion))
        return completion, events

    def fail(self, error: Exception) -> tuple[Failed, list[Event]]:
        """Return the outcome of a failed call and the events of its end; what had arrived stays in the error."""
        ours = as_step_error(self.call.stage, error)
        text = "".join(self._text)
        if text and isinstance(ours, ResponsaError) and not isinstance(ours, StreamInterrupted):
            interrupted = StreamInterrupted(getattr(ours, "url", ""), text, str(ours))
            interrupted.__cause__ = ours
            ours = interrupted
        timings = Timings(self._first, perf_counter() - self._sent, sent_at=self._sent_at)
        return Failed(ours, timings), [StepFinished(self.number, self.call.stage, error=ours)]
