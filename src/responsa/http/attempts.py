"""One retry policy: which request is sent again, and after how long. No I/O."""

from __future__ import annotations

import logging
import random
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..schema.errors import ServerLoading, ServerTimeout
from .failures import Failure, failure_of_reply
from .messages import Request
from .timeouts import Deadline, Timeout

logger = logging.getLogger("responsa.http")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 8.0
HEALTH_PAUSE = 0.25
LONGEST_HEALTH_PAUSE = 2.0


@dataclass(frozen=True, slots=True)
class Send:
    """Send `request`; answered by an `Answer`, or a `Failure` when no reply came.

    Args:
        streamed: Whether to hand on the open reply after its first bytes instead of reading it whole.
        connect: Limit of the connection, in seconds.
        read: Limit of each wait for bytes, in seconds.
        deadline: The moment that headers, and the body of a reply that is read whole, must not outlive.
    """

    request: Request
    streamed: bool
    connect: float
    read: float
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait `seconds`."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply: whole, or (a streamed success) its first bytes and the open response."""

    status: int
    headers: dict[str, str]
    body: bytes
    response: Any = field(default=None, compare=False)


Step: TypeAlias = Send | Sleep
Attempts: TypeAlias = Generator[Step, Any, Answer]


def attempts(
    request: Request,
    *,
    streamed: bool,
    timeout: Timeout,
    deadline: Deadline,
    max_retries: int,
    health_url: str,
    api_key: str | None = None,
) -> Attempts:
    """Send a request until it succeeds, may not be repeated, or the time is up.

    It yields `Send` and `Sleep`, returns the successful `Answer` and raises the last failure's error.
    """
    if request.max_retries is not None:
        max_retries = request.max_retries
    for retry in range(max_retries + 1):
        outcome = yield _send(request, streamed, timeout, deadline)
        if isinstance(outcome, Answer):
            if 200 <= outcome.status < 300:
                return outcome
            failure = failure_of_reply(request.url, outcome.status, outcome.headers, outcome.body, api_key)
        else:
            failure = outcome
        if deadline.passed and failure.retryable and not failure.loading:
            raise ServerTimeout(request.url, deadline.seconds) from failure.error
        if not failure.retryable or retry == max_retries:
            raise failure.error
        if failure.loading:
            yield from _until_loaded(request, failure, timeout, deadline, health_url)
            continue
        pause = _pause(failure, retry)
        if pause >= deadline.left:
            raise failure.error
        logger.info("retry %d of %d at %s in %.2f s: %s", retry + 1, max_retries, request.url, pause, failure.error)
        if pause:
            yield Sleep(pause)
    raise AssertionError("unreachable")


def _send(request: Request, streamed: bool, timeout: Timeout, deadline: Deadline) -> Send:
    left = max(0.001, deadline.left)
    return Send(request, streamed, min(timeout.connect, left), min(timeout.silence, left), deadline)


def _pause(failure: Failure, retry: int) -> float:
    if failure.retry_after is not None:
        return failure.retry_after
    if failure.at_once and retry == 0:
        return 0.0
    ceiling = min(LONGEST_PAUSE, FIRST_PAUSE * float(2**retry))
    return ceiling * (0.5 + random.random() / 2)  # noqa: S311 - jitter, not a secret


def _until_loaded(
    request: Request, failure: Failure, timeout: Timeout, deadline: Deadline, health_url: str
) -> Generator[Step, Any, None]:
    """Ask `/health` until the model is loaded."""
    logger.warning("%s is loading its model; waiting up to %.0f s", request.url, deadline.left)
    pause = HEALTH_PAUSE
    while True:
        if pause >= deadline.left:
            raise ServerLoading(request.url, round(deadline.waited, 1)) from failure.error
        yield Sleep(pause)
        outcome = yield _send(Request("GET", health_url), False, timeout, deadline)
        # A server without /health answers 404: then only the request itself can tell.
        if isinstance(outcome, Answer) and outcome.status != 503:
            return
        pause = min(LONGEST_HEALTH_PAUSE, pause * 1.5)
