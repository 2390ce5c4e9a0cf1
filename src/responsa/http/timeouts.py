"""How long a call may take."""

from __future__ import annotations

import time
from dataclasses import dataclass

from ..schema.errors import InvalidOption


@dataclass(frozen=True, slots=True)
class Timeout:
    """The limits of one call, in seconds.

    Args:
        total: The whole call with its retries, from sending the request to the last token.
        silence: The longest wait for any sign of the server: its first byte, then each next one.
        connect: The wait for the connection.
    """

    total: float = 600.0
    silence: float = 600.0
    connect: float = 5.0

    def __post_init__(self) -> None:
        for name in ("total", "silence", "connect"):
            if not getattr(self, name) > 0:
                raise InvalidOption(f"timeout.{name}", getattr(self, name), "a number of seconds above 0")

    @classmethod
    def of(cls, value: float | Timeout) -> Timeout:
        """Return `value` as limits: a plain number is both the whole call's and the silence's."""
        if isinstance(value, Timeout):
            return value
        return cls(total=value, silence=value, connect=min(value, cls().connect) if value > 0 else value)


class Deadline:
    """A moment that one call must not outlive."""

    __slots__ = ("at", "seconds", "started")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.started = time.monotonic()
        self.at = self.started + seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline, never below 0."""
        return max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self.at

    @property
    def waited(self) -> float:
        """Seconds since the call began."""
        return time.monotonic() - self.started
