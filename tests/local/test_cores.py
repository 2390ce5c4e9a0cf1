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
    monkeypatch.setattr(os, "getloadavg", lambda: (busy, 0.0, 0.0), raising=False)
    assert cores.default_threads() == expected


def test_where_the_load_cannot_be_known_all_cores_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> None:
        raise OSError

    monkeypatch.setattr(cores, "physical_cores", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", unknown, raising=False)
    assert cores.default_threads() == 4
