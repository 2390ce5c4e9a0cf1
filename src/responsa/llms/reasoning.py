"""Telling a model's reasoning from its answer where both come in one text."""

from __future__ import annotations

from typing import Final

from ..schema.completions import Delta

OPENING_TAG: Final = "<think>"
CLOSING_TAG: Final = "</think>"


class ReasoningSplitter:
    """Takes the text of a stream apart: what stands in `<think>` tags at its head is reasoning.

    Tags may be cut anywhere. Only the head of an answer is looked at: once text has begun, a tag is text.

    Args:
        opened: Whether the prompt itself opened the tag, so that the answer begins inside it. A model that then does
            not reason closes no tag: at the end, all it wrote is taken for text after all.

    Attributes:
        opened: As given.
        closed: Whether reasoning came to its end.
    """

    __slots__ = ("_buffer", "_doubtful", "_state", "_white", "closed", "opened")

    def __init__(self, opened: bool = False) -> None:
        self.opened = opened
        self.closed = False
        self._buffer = ""
        self._white: list[str] = []
        self._state = "opened" if opened else "head"
        self._doubtful: list[str] | None = [] if opened else None

    @property
    def is_over(self) -> bool:
        """Whether all that comes is text."""
        return self._state == "text"

    def reasoning_is_apart(self) -> None:
        """Note that the server sends reasoning in a field of its own: the text is text."""
        if not self._buffer and not self._white:
            self._state = "text"

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of text and return what is certain of it."""
        if self._state == "text":
            return [Delta(text)] if text else []
        if not self._buffer and not text.strip() and self._state in ("head", "opened"):
            self._white.append(text)
            return []
        self._buffer = "".join([*self._white, self._buffer, text])
        self._white.clear()
        pieces: list[Delta] = []
        if self._state in ("head", "opened"):
            self._head(pieces)
        if self._state == "inside":
            self._inside(pieces)
        if self._state == "after":
            self._after(pieces)
        return pieces

    def close(self, finished: bool = True) -> list[Delta]:
        """End the text and return what was held back.

        Args:
            finished: Whether the model came to its end, rather than being cut.
        """
        rest, self._buffer = "".join([*self._white, self._buffer]), ""
        if self._state in ("opened", "inside"):
            if finished and self._doubtful is not None:
                rest = "".join([*self._doubtful, rest])
                return [Delta(rest)] if rest else []
            return [Delta("", rest)] if rest else []
        return [Delta(rest)] if rest and self._state != "after" else []

    def _head(self, pieces: list[Delta]) -> None:
        body = self._buffer.lstrip()
        if body.startswith(OPENING_TAG):  # some models write it although the prompt has it
            self._buffer, self._state = body[len(OPENING_TAG) :], "inside"
        elif OPENING_TAG.startswith(body):
            return
        elif self._state == "opened":
            self._state = "inside"
        else:
            pieces.append(Delta(self._buffer))
            self._buffer, self._state = "", "text"

    def _inside(self, pieces: list[Delta]) -> None:
        before, tag, after = self._buffer.partition(CLOSING_TAG)
        if tag:
            self._buffer, self._state, self._doubtful, self.closed = after, "after", None, True
        else:
            held = next((n for n in range(len(CLOSING_TAG) - 1, 0, -1) if before.endswith(CLOSING_TAG[:n])), 0)
            cut = len(before) - held
            before, self._buffer = before[:cut], before[cut:]
        if before:
            pieces.append(Delta("", before))
            if self._doubtful is not None:
                self._doubtful.append(before)

    def _after(self, pieces: list[Delta]) -> None:
        text = self._buffer.lstrip()
        self._buffer = ""
        if text:
            pieces.append(Delta(text))
            self._state = "text"
