"""Folding a stream into one completion."""

from __future__ import annotations

from ..schema.completions import Completion, Delta, Finish, StreamItem


class CompletionBuilder:
    """Gathers the pieces of a stream."""

    __slots__ = ("_finish", "_reasoning", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._reasoning: list[str] = []
        self._finish = Finish()

    def add(self, item: StreamItem) -> None:
        """Take the next piece."""
        if isinstance(item, Delta):
            if item.text:
                self.texts.append(item.text)
            if item.reasoning:
                self._reasoning.append(item.reasoning)
        else:
            self._finish = item

    def build(self) -> Completion:
        """Return what has been gathered."""
        end = self._finish
        return Completion("".join(self.texts), "".join(self._reasoning), end.reason, end.usage, end.timings, end.model)
