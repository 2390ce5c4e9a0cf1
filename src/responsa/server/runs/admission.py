"""The queue in front of the model: questions are answered in the order they came, as many at a time as it has slots."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from responsa.schema.errors import QueueFull

# How long an answer is taken to last before one has ended, in seconds.
_FIRST_GUESS: Final = 5.0
_LONGEST_RETRY: Final = 120


class Admission:
    """Gives turns to questions.

    Args:
        slots: Returns how many may be answered at a time; asked once, when the first turn is waited for.
        max_waiting: The most questions that may wait.
    """

    def __init__(self, slots: Callable[[], Awaitable[int]], max_waiting: int) -> None:
        self._ask = slots
        self._slots: int | None = None
        self._max_waiting = max_waiting
        self._waiting: deque[Ticket] = deque()
        self._seconds = _FIRST_GUESS
        self.active = 0

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether a question that comes now has to wait, be it until it is known how many slots there are."""
        return self._slots is None or self.active + self.waiting >= self._slots

    def take(self, on_position: Callable[[int], None]) -> Ticket:
        """Join the queue.

        Args:
            on_position: Told the place in the queue, from 1, whenever it changes; not where the turn comes at once.

        Raises:
            QueueFull: As many wait as may.
        """
        free = (self._slots or 1) - self.active
        if len(self._waiting) >= self._max_waiting + max(free, 0):
            raise QueueFull(len(self._waiting), self._retry_after())
        ticket = Ticket(self, on_position)
        self._waiting.append(ticket)
        return ticket

    async def know_slots(self) -> None:
        """Ask how many slots there are, if that is not known yet."""
        if self._slots is None:
            self._slots = max(1, await self._ask())
            self.advance()

    def advance(self) -> None:
        """Give free slots to those who wait longest, and tell the others their places."""
        if self._slots is None:
            return
        while self._waiting and self.active < self._slots:
            self.active += 1
            self._waiting.popleft().grant()
        for position, ticket in enumerate(self._waiting, 1):
            ticket.tell(position)

    def leave(self, ticket: Ticket) -> None:
        """Take a question out of the queue, or give its slot back."""
        if ticket.granted_at is not None:
            self.active -= 1
            self._seconds += 0.2 * (time.monotonic() - ticket.granted_at - self._seconds)
        elif ticket in self._waiting:
            self._waiting.remove(ticket)
        self.advance()

    def _retry_after(self) -> int:
        turns = math.ceil((len(self._waiting) + 1) / (self._slots or 1))
        return min(_LONGEST_RETRY, max(1, math.ceil(self._seconds * turns)))


class Ticket:
    """A question's place in the queue; as an async context manager, its turn."""

    def __init__(self, admission: Admission, on_position: Callable[[int], None]) -> None:
        self._admission = admission
        self._on_position = on_position
        self._turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._told: int | None = None
        self._left = False
        self.granted_at: float | None = None

    async def __aenter__(self) -> None:
        try:
            await self._admission.know_slots()
            self._admission.advance()
            await self._turn
        except BaseException:
            self.leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Give up the place or the turn; does nothing the second time."""
        if not self._left:
            self._left = True
            self._admission.leave(self)

    def grant(self) -> None:
        """Give the turn."""
        self.granted_at = time.monotonic()
        if not self._turn.done():
            self._turn.set_result(None)

    def tell(self, position: int) -> None:
        """Say the place in the queue, if it is another than before."""
        if position != self._told:
            self._told = position
            self._on_position(position)
