"""How often a key may ask: exact, over several processes, and told with the time to wait."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.server.support import QUESTION, a_service, in_process

from responsa.schema.errors import InvalidOption, LimitsUnavailable, TooManyRequests
from responsa.server import load_settings
from responsa.server.security.limits import Limit, RateLimits


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def taken(limits: RateLimits, clock: Clock, script: Iterable[tuple[str, float]]) -> list[int]:
    """Each request's time to wait, 0 where it was let in; the requests come at these seconds, in order."""

    async def scene() -> list[int]:
        waits = []
        start = clock.now
        for key, second in script:
            clock.now = start + second
            try:
                await limits.take(key)
                waits.append(0)
            except TooManyRequests as error:
                waits.append(error.retry_after)
        await limits.aclose()
        return waits

    return asyncio.run(scene())


@pytest.mark.parametrize(
    ("limits", "script", "waits"),
    [
        ([(2, 60)], [("a", 0), ("a", 10), ("a", 20), ("a", 59.5), ("a", 60)], [0, 0, 40, 1, 0]),
        ([(2, 60)], [("a", 0), ("a", 10), ("a", 60), ("a", 61), ("a", 70)], [0, 0, 0, 9, 0]),
        ([(1, 60)], [("a", 0), ("b", 0), ("a", 1), ("b", 2)], [0, 0, 59, 58]),
        ([(3, 10), (4, 60)], [("a", n) for n in (0, 1, 2, 3, 11, 12)], [0, 0, 0, 7, 0, 48]),
        ([(1, 1)], [("a", 0), ("a", 0.5), ("a", 1.0)], [0, 1, 0]),
        ([(1, 60)], [("a", 0), ("a", 30), ("a", 60), ("a", 61)], [0, 30, 0, 59]),
        ([], [("a", 0)] * 50, [0] * 50),
        ([(1, 60)], [("a", 1000), ("a", 0)], [0, 0]),
    ],
    ids=[
        "the window moves",
        "no fresh start at the full minute",
        "each key has its own",
        "the longest wait of several limits",
        "a wait is never shorter than a second",
        "a refusal is not counted",
        "no limit",
        "a clock set back locks nobody out",
    ],
)
def test_a_window_moves_with_every_request(
    tmp_path: Path, limits: list[tuple[int, int]], script: list[tuple[str, float]], waits: list[int]
) -> None:
    clock = Clock()
    held = RateLimits(tmp_path / "limits.db", [Limit(*limit) for limit in limits], clock=clock)
    assert taken(held, clock, script) == waits


def test_a_key_with_limits_of_its_own_is_held_to_those_alone(tmp_path: Path) -> None:
    async def scene() -> None:
        clock = Clock()
        limits = RateLimits(tmp_path / "limits.db", [Limit(1, 1)], clock=clock)
        own = [Limit(2, 86_400), Limit(1, 60)]
        start = clock.now
        for second, key, held_to, wait in (
            (0, "anna", own, 0),
            (0.5, "ben", [], 0),
            (0.6, "ben", [], 1),
            (1, "anna", own, 59),
            (70, "anna", own, 0),
            (80_000, "ben", [], 0),  # counts of a longer window outlast the requests of others
            (80_000, "anna", own, 6_400),
            (86_401, "anna", own, 0),
            (86_470, "anna", own, 0),
            (86_480, "anna", own, 86_321),
        ):
            clock.now = start + second
            if not wait:
                await limits.take(key, held_to)
                continue
            with pytest.raises(TooManyRequests) as refused:
                await limits.take(key, held_to)
            assert refused.value.retry_after == wait
        await limits.aclose()

    asyncio.run(scene())


WORKER = """
import asyncio, sys
from pathlib import Path
from responsa.schema.errors import TooManyRequests
from responsa.server.security.limits import Limit, RateLimits

async def work():
    shared, own = [Limit(100, 86400)], []
    if sys.argv[2] == "own":
        shared, own = [Limit(1, 1)], shared
    limits = RateLimits(Path(sys.argv[1]), shared)
    print("ready", flush=True)
    sys.stdin.readline()
    let_in = 0
    for _ in range(90):
        try:
            await limits.take("anna", own)
            let_in += 1
        except TooManyRequests:
            pass
    await limits.aclose()
    print(let_in)

asyncio.run(work())
"""


@pytest.mark.parametrize("whose", ["shared", "own"])
def test_processes_count_together_and_lose_no_count(tmp_path: Path, whose: str) -> None:
    command = [sys.executable, "-c", WORKER, str(tmp_path / "limits.db"), whose]
    workers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
    counts = [int(worker.communicate(timeout=120)[0]) for worker in workers]
    assert sum(counts) == 100
    assert all(worker.returncode == 0 for worker in workers)


def test_a_service_that_begins_anew_goes_on_counting(tmp_path: Path) -> None:
    clock = Clock()
    for waits in ([0, 0], [60]):
        limits = RateLimits(tmp_path / "limits.db", [Limit(2, 60)], clock=clock)
        assert taken(limits, clock, [("a", 0)] * len(waits)) == waits


def test_a_key_at_its_limit_is_told_when_to_come_again_and_may_still_stop_what_runs(tmp_path: Path) -> None:
    async def scene() -> None:
        services = [a_service(tmp_path, no_auth=False, limits="2/hour") for _ in range(2)]
        keys = [services[0].keys.add(name)[1] for name in ("anna", "ben")]
        headers = [{"Authorization": f"Bearer {key}"} for key in keys]
        async with in_process(services[0]) as one, in_process(services[1]) as other:
            replies = [await client.post("/v1/answer", json=QUESTION, headers=headers[0]) for client in (one, other)]
            assert [reply.status_code for reply in replies] == [200, 200]
            for client in (one, other):
                refused = await client.post("/v1/answer", json=QUESTION, headers=headers[0])
                assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_requests")
                assert 3590 <= int(refused.headers["retry-after"]) <= 3600
            in_their_shape = await one.post("/v1/chat/completions", json={}, headers=headers[0])
            assert (in_their_shape.status_code, in_their_shape.json()["error"]["type"]) == (429, "rate_limit_error")
            assert (await other.post("/v1/answer", json=QUESTION, headers=headers[1])).status_code == 200
            answer = f"/v1/answers/{replies[0].json()['answer_id']}"
            assert (await one.get(f"{answer}/events", headers=headers[0])).status_code == 200
            assert (await one.delete(answer, headers=headers[0])).status_code == 200

    asyncio.run(scene())


@pytest.mark.parametrize("limits", ["2/hour", ""])
def test_a_keys_own_limits_stand_in_place_of_the_settings(tmp_path: Path, limits: str) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, no_auth=False, limits=limits)
        keys = [service.keys.add(name, limits=own)[1] for name, own in (("anna", ["1/hour"]), ("ben", ["3/hour"]))]
        async with in_process(service) as client:
            for key, allowed in zip(keys, (1, 3), strict=True):
                headers = {"Authorization": f"Bearer {key}"}
                for _ in range(allowed):
                    assert (await client.post("/v1/answer", json=QUESTION, headers=headers)).status_code == 200
                refused = await client.post("/v1/answer", json=QUESTION, headers=headers)
                assert refused.status_code == 429
                assert refused.json()["error"]["details"]["limit"] == allowed
                assert 3590 <= int(refused.headers["retry-after"]) <= 3600

    asyncio.run(scene())


def test_a_wrong_key_or_scope_uses_up_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        service = a_service(tmp_path, no_auth=False, limits="1/hour")
        key, text = service.keys.add("anna")
        async with in_process(service) as client:
            for wrong in ("", f"rsp_{key.key_id}_x"):
                reply = await client.post("/v1/answer", json=QUESTION, headers={"Authorization": f"Bearer {wrong}"})
                assert reply.status_code == 401
            reply = await client.post("/v1/answer", json=QUESTION, headers={"Authorization": f"Bearer {text}"})
            assert reply.status_code == 200

    asyncio.run(scene())


def test_where_requests_cannot_be_counted_none_is_let_in(tmp_path: Path) -> None:
    (tmp_path / "limits.db").write_text("this is no database, and far too long to be taken for an empty one" * 20)

    async def scene() -> None:
        limits = RateLimits(tmp_path / "limits.db", [Limit(1, 60)])
        with pytest.raises(LimitsUnavailable):
            await limits.take("anna")
        await limits.aclose()
        service = a_service(tmp_path, no_auth=False)
        _, text = service.keys.add("anna")
        async with in_process(service) as client:
            reply = await client.post("/v1/answer", json=QUESTION, headers={"Authorization": f"Bearer {text}"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (503, "limits_unavailable")
            assert str(tmp_path) not in reply.text

    asyncio.run(scene())


@pytest.mark.parametrize("text", ["", "10", "0/minute", "10/week", "-1/day", "10 / minute / x", "1e3/day", "١/day"])
def test_a_limit_is_a_number_and_a_unit(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidOption):
        Limit.parse(text)
    if text:
        with pytest.raises(InvalidOption, match="limits"):
            load_settings({"limits": text, "data_dir": tmp_path})


def test_limits_are_set_by_text_or_list_and_taken_away_by_nothing(tmp_path: Path) -> None:
    assert load_settings({"limits": "1/second, 5/day"}).limits == ("1/second", "5/day")
    assert load_settings({"limits": ["7/hour"]}).limits == ("7/hour",)
    assert load_settings({"limits": ""}).limits == ()


OPEN = {"/healthz", "/readyz"}


def test_every_route_asks_for_a_key_but_those_that_tell_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with in_process(a_service(tmp_path, no_auth=False)) as client:
            document = (await client.get("/openapi.json")).json()
            refused = set()
            for path, methods in document["paths"].items():
                for method in methods:
                    reply = await client.request(method, path.replace("{", "").replace("}", ""), json={})
                    if reply.status_code == 401:
                        refused.add((path, method))
            assert refused == {
                (path, method) for path, methods in document["paths"].items() for method in methods if path not in OPEN
            }

    asyncio.run(scene())
