"""Independent answers, each written when it is whole, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.schema.calls import LLMCall
from responsa.schema.citations import Citation
from responsa.schema.events import CitationFound, StepFinished

from .marked_text import marked

if TYPE_CHECKING:
    from .terminal import Terminal


class ItemsView:
    """Shows the answers of calls that run at the same time and may end in any order.

    Args:
        terminal: Where to write.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._citations: dict[int, list[Citation]] = {}
        self._ended: dict[int, tuple[StepFinished, LLMCall]] = {}
        self._next = 0

    def take(self, event: CitationFound | StepFinished, call: LLMCall) -> None:
        """Take a citation, or the end of a call; write every answer whose turn has come."""
        if isinstance(event, CitationFound):
            self._citations.setdefault(event.number, []).append(event.citation)
            return
        if call.item is not None:
            self._ended[call.item] = event, call
        while self._next in self._ended:
            self._write(*self._ended.pop(self._next))
            self._next += 1

    def _write(self, event: StepFinished, call: LLMCall) -> None:
        terminal = self._terminal
        passages = ", ".join(str(number) for number in dict.fromkeys(span.number for span in call.spans))
        terminal.write(terminal.text("item", number=self._next + 1, passages=passages), "bold")
        if event.completion is None:
            terminal.write(terminal.text("item_failed", error=event.error), "yellow")
            return
        pieces = list(marked(event.completion.text, self._citations.get(event.number, ())))
        for piece in pieces:
            terminal.write(piece.text, "dim" if piece.is_marker else "", end="")
        terminal.write("")
