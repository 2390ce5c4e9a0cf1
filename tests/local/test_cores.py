"""A model gets the physical cores that are free, and at least one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from responsa.local import cores


@pytest.fixture
def cpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight processors on four cores."""
    for cpu in range(8):
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{cpu % 4},{cpu % 4 + 4}\n", encoding="ascii")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("quota", "expected"), [(None, 4), ("max 100000", 4), ("200000 100000", 2), ("50000 100000", 1), ("nonsense", 4)]
)
def test_two_threads_of_one_core_count_once_and_a_containers_share_limits_them(
    cpus: Path, quota: str | None, expected: int
) -> None:
    path = cpus / "cpu.max"
    if quota is not None:
        path.write_text(quota, encoding="ascii")
    assert cores.physical_cores(cpus, path) == expected


def test_only_processors_this_process_may_use_count(cpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 4, 5}, raising=False)
    assert cores.physical_cores(cpus, cpus / "none") == 2


@pytest.mark.parametrize(("busy", "expected"), [(0.0, 4), (0.6, 3), (2.0, 2), (9.0, 1)])
def test_cores_that_are_busy_are_left_alone(monkeypatch: pytest.MonkeyPatch, busy: float, expected: int) -> None:
    monkeypatch.setattr(cores, "physical_cores", lambda: 4)
    monkeypatch.setattr(cores, "busy_processors", lambda: busy)
    assert cores.default_threads() == expected


def stat(busy: int, idle: int) -> str:
    """What the system counts of two processors: all, then each."""
    return f"cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\nintr 1\n"


@pytest.mark.parametrize(("busy", "idle", "expected"), [(0, 100, 0.0), (50, 50, 1.0), (100, 0, 2.0)])
def test_only_what_is_at_work_now_counts_as_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: int, idle: int, expected: float
) -> None:
    path = tmp_path / "stat"
    path.write_text(stat(5000, 1000), encoding="ascii")
    later = stat(5000 + busy, 1000 + idle)
    monkeypatch.setattr(cores.time, "sleep", lambda _: path.write_text(later, encoding="ascii"))
    assert cores.busy_processors(path) == expected


@pytest.mark.parametrize("content", ["", "nonsense\n", "cpu 1 2 x 4 5\n", stat(1, 1)])
@pytest.mark.parametrize(("load", "expected"), [((1.5, 0.0, 0.0), 1.5), (None, 0.0)])
def test_where_the_processors_time_is_not_told_the_average_load_counts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str,
    load: tuple[float, float, float] | None,
    expected: float,
) -> None:
    def average() -> tuple[float, float, float]:
        if load is None:
            raise OSError
        return load

    (tmp_path / "stat").write_text(content, encoding="ascii")
    monkeypatch.setattr(os, "getloadavg", average, raising=False)
    assert cores.busy_processors(tmp_path / "stat", seconds=0.0) == expected
