"""Telling a model's reasoning from its answer where both come in one text."""

from __future__ import annotations

from ..schema.completions import Delta

_OPEN, _CLOSE = "<think>", "</think>"


class ReasoningSplitter:
    """Takes the text of a stream apart: what stands in `<think>` tags at its head is reasoning.

    Tags may be cut anywhere. Only the head of an answer is looked at: once text has begun, a tag is text.

    Args:
        opened: Whether the prompt itself opened the tag, so that the answer begins inside it.
    """

    __slots__ = ("_buffer", "_state")

    def __init__(self, opened: bool = False) -> None:
        self._buffer = ""
        self._state = "inside" if opened else "head"

    def reasoning_is_apart(self) -> None:
        """Note that the server sends reasoning in a field of its own: the text is text."""
        if not self._buffer:
            self._state = "text"

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of text and return what is certain of it."""
        if self._state == "text":
            return [Delta(text)]
        self._buffer += text
        pieces: list[Delta] = []
        if self._state == "head":
            self._head(pieces)
        if self._state == "inside":
            self._inside(pieces)
        if self._state == "after":
            self._after(pieces)
        return pieces

    def close(self) -> list[Delta]:
        """End the text and return what was held back."""
        rest, self._buffer = self._buffer, ""
        if not rest or self._state == "after":
            return []
        return [Delta("", rest)] if self._state == "inside" else [Delta(rest)]

    def _head(self, pieces: list[Delta]) -> None:
        body = self._buffer.lstrip()
        if body.startswith(_OPEN):
            self._buffer, self._state = body[len(_OPEN) :], "inside"
        elif not _OPEN.startswith(body):
            pieces.append(Delta(self._buffer))
            self._buffer, self._state = "", "text"

    def _inside(self, pieces: list[Delta]) -> None:
        before, tag, after = self._buffer.partition(_CLOSE)
        if tag:
            self._buffer, self._state = after, "after"
        else:
            held = next((n for n in range(len(_CLOSE) - 1, 0, -1) if before.endswith(_CLOSE[:n])), 0)
            cut = len(before) - held
            before, self._buffer = before[:cut], before[cut:]
        if before:
            pieces.append(Delta("", before))

    def _after(self, pieces: list[Delta]) -> None:
        text = self._buffer.lstrip()
        self._buffer = ""
        if text:
            pieces.append(Delta(text))
            self._state = "text"
