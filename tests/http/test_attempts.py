"""One retry policy: what is sent again, how often, and after how long."""

from __future__ import annotations

from email.utils import formatdate
from typing import Any

import pytest

from responsa.http.attempts import Answer, Send, Sleep, attempts
from responsa.http.failures import Failure
from responsa.http.messages import Request
from responsa.http.timeouts import Deadline, Timeout
from responsa.schema.errors import (
    InvalidOption,
    RateLimited,
    RequestRefused,
    ServerError,
    ServerLoading,
    ServerTimeout,
    ServerUnreachable,
)

URL = "http://server/v1/chat/completions"
OK = Answer(200, {}, b"{}")
LOADING = Answer(503, {}, b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}')
REFUSED = Failure(ServerUnreachable(URL, "refused"), retryable=True)
RESET = Failure(ServerUnreachable(URL, "reset"), retryable=True, at_once=True)


class Run:
    """Drives the attempts with given outcomes, without network or clock."""

    def __init__(self, *outcomes: Answer | Failure, max_retries: int = 3, total: float = 600.0, **request: Any) -> None:
        self.sent: list[str] = []
        self.pauses: list[float] = []
        self.answer: Answer | None = None
        self.error: ServerError | None = None
        steps = attempts(
            Request("POST", URL, b"{}", **request),
            streamed=False,
            timeout=Timeout(total=total),
            deadline=Deadline(total),
            max_retries=max_retries,
            health_url="http://server/health",
        )
        waiting = list(outcomes)
        outcome: Answer | Failure | None = None
        try:
            while True:
                step = steps.send(outcome)
                outcome = None
                if isinstance(step, Sleep):
                    self.pauses.append(step.seconds)
                else:
                    assert isinstance(step, Send)
                    self.sent.append(step.request.url)
                    outcome = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        except StopIteration as stop:
            self.answer = stop.value
        except ServerError as error:
            self.error = error


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
def test_a_passing_fault_is_sent_again_at_most_max_retries_times(status: int) -> None:
    run = Run(Answer(status, {}, b"{}"), max_retries=2)
    assert (len(run.sent), len(run.pauses)) == (3, 2)
    assert isinstance(run.error, RateLimited if status == 429 else RequestRefused)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 413, 422, 501, 505])
def test_a_lasting_fault_is_never_sent_again(status: int) -> None:
    assert len(Run(Answer(status, {}, b"{}")).sent) == 1


def test_the_first_success_ends_the_attempts() -> None:
    run = Run(REFUSED, Answer(502, {}, b""), OK)
    assert (run.answer, len(run.sent)) == (OK, 3)


def test_without_retries_one_request_is_sent() -> None:
    for outcome in (REFUSED, RESET, LOADING, Answer(429, {}, b"")):
        assert len(Run(outcome, max_retries=0).sent) == 1
    assert len(Run(REFUSED, max_retries=0, **{}).sent) == 1


def test_a_request_may_set_its_own_number_of_retries() -> None:
    steps = attempts(
        Request("GET", URL, max_retries=1),
        streamed=False,
        timeout=Timeout(),
        deadline=Deadline(60),
        max_retries=5,
        health_url="",
    )
    sent = 0
    with pytest.raises(ServerUnreachable):
        step = next(steps)
        while True:
            sent += isinstance(step, Send)
            step = steps.send(REFUSED if isinstance(step, Send) else None)
    assert sent == 2


def test_pauses_double_with_jitter_up_to_a_ceiling() -> None:
    pauses = Run(REFUSED, max_retries=8).pauses
    for place, pause in enumerate(pauses):
        ceiling = min(8.0, 0.5 * 2**place)
        assert ceiling / 2 <= pause <= ceiling


def test_a_dropped_connection_is_tried_again_at_once_and_then_with_pauses() -> None:
    assert len(Run(RESET, OK).pauses) == 0
    assert len(Run(RESET, RESET, OK).pauses) == 1


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "0"}, 0, 0),
        ({"retry-after-ms": "250"}, 0.25, 0.25),
        ({"retry-after": formatdate(2e9, usegmt=True)}, 1e7, 2e9),
        ({"retry-after": "soon"}, 0.25, 0.5),
        ({"retry-after": "nan"}, 0.25, 0.5),
    ],
)
def test_the_wait_a_server_asks_for_is_kept(headers: dict[str, str], low: float, high: float) -> None:
    run = Run(Answer(429, headers, b""), OK, total=3e9)
    assert sum(run.pauses) == pytest.approx((low + high) / 2, abs=(high - low) / 2 + 1e-6)


def test_a_wait_longer_than_the_time_left_fails_at_once_and_names_it() -> None:
    run = Run(Answer(429, {"retry-after": "90"}, b""), OK, total=60)
    assert isinstance(run.error, RateLimited)
    assert (run.error.retry_after, len(run.sent), run.pauses) == (90, 1, [])


def test_a_loading_server_is_asked_for_its_health_before_the_request_goes_again() -> None:
    run = Run(LOADING, LOADING, Answer(503, {}, b""), OK, OK)
    assert run.sent == [URL, *["http://server/health"] * 3, URL]
    assert run.answer == OK


def test_a_server_without_health_gets_the_request_again() -> None:
    run = Run(LOADING, Answer(404, {}, b""), OK)
    assert (run.sent, run.answer) == ([URL, "http://server/health", URL], OK)


def test_a_server_that_loads_for_too_long_says_so() -> None:
    run = Run(LOADING, total=1e-9)
    assert isinstance(run.error, ServerLoading)


def test_a_fault_after_the_deadline_is_a_timeout() -> None:
    run = Run(REFUSED, total=1e-9)
    assert isinstance(run.error, ServerTimeout)
    assert len(run.sent) == 1


def test_a_plain_number_is_the_limit_of_the_call_and_of_silence() -> None:
    assert Timeout.of(3) == Timeout(total=3, silence=3, connect=3)
    assert Timeout.of(30) == Timeout(total=30, silence=30, connect=5)
    for bad in (0, -1):
        with pytest.raises(InvalidOption):
            Timeout.of(bad)
