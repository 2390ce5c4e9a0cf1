"""The events of one run as bytes, ready to be sent: written once, read by any number of listeners.

Listeners take what is there at their own pace and hold nothing but a number, so that one that reads slowly or not at
all costs no memory and holds nobody up.
"""

from __future__ import annotations

from typing import Final, Protocol

# The most that a listener is given in one piece, in bytes.
PIECE_BYTES: Final = 65_536


class Listener(Protocol):
    """Who is told that there is more."""

    def wake(self) -> None:
        """Take note of it; must not block."""
        ...


class Framing(Protocol):
    """How events are written as server-sent events."""

    def frame(self, number: int, name: str, data: str) -> str:
        """Return an event by its number, its type and its JSON in one line."""
        ...

    def gap(self, count: int) -> str:
        """Return what a listener is told that came too late for `count` events."""
        ...


class TypedFraming:
    """Every event has its number and its type."""

    def frame(self, number: int, name: str, data: str) -> str:
        return f"id: {number}\nevent: {name}\ndata: {data}\n\n"

    def gap(self, count: int) -> str:
        return f'event: events_dropped\ndata: {{"count":{count}}}\n\n'


TYPED: Final = TypedFraming()


class EventLog:
    """Events as server-sent events, numbered from 1.

    Args:
        max_bytes: The most bytes kept; the oldest events go first. What is lost to a listener, it is told.
        framing: How they are written.

    Attributes:
        ended: Whether the last event has been written.
        size: The bytes kept.
    """

    __slots__ = ("_frames", "_framing", "_lost", "_max_bytes", "ended", "listeners", "size")

    def __init__(self, max_bytes: int, framing: Framing = TYPED) -> None:
        self._max_bytes = max_bytes
        self._framing = framing
        self._frames: list[bytes] = []
        self._lost = 0
        self.ended = False
        self.size = 0
        self.listeners: set[Listener] = set()

    @property
    def last(self) -> int:
        """The number of the newest event; 0 before the first."""
        return self._lost + len(self._frames)

    def append(self, name: str, data: str) -> None:
        """Write an event.

        Args:
            name: Its type.
            data: Its JSON, in one line.
        """
        text = self._framing.frame(self._lost + len(self._frames) + 1, name, data)
        frame = text.encode("utf-8", "replace")  # half a character has no encoding
        self._frames.append(frame)
        self.size += len(frame)
        if self.size > self._max_bytes:
            self._drop()
        for listener in self.listeners:
            listener.wake()

    def end(self) -> None:
        """Note that nothing follows."""
        self.ended = True
        for listener in self.listeners:
            listener.wake()

    def after(self, number: int) -> tuple[bytes, int]:
        """Return the next events after the one of that number, in one piece, and the number of the last of them."""
        lost = self._lost - number
        if lost > 0:
            number = self._lost
            gap = self._framing.gap(lost).encode()
        else:
            gap = b""
        first = number - self._lost
        frames = self._frames[first:] if first else self._frames
        if not frames:
            return gap, number
        if len(frames) == 1:
            return gap + frames[0], number + 1
        taken, size = 0, 0
        while taken < len(frames) and (taken == 0 or size + len(frames[taken]) <= PIECE_BYTES):
            size += len(frames[taken])
            taken += 1
        return gap + b"".join(frames[:taken]), number + taken

    def _drop(self) -> None:
        """Give up the oldest events until half of the bytes are kept; the newest always stays."""
        count = 0
        while count < len(self._frames) - 1 and self.size > self._max_bytes // 2:
            self.size -= len(self._frames[count])
            count += 1
        del self._frames[:count]
        self._lost += count
