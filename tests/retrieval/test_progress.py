import pytest

from responsa.retrieval.progress import IngestProgress, print_progress


@pytest.mark.parametrize(
    ("done", "total", "unchanged", "seconds", "left"),
    [
        (0, 10, 0, 0.0, None),
        (5, None, 0, 10.0, None),
        (5, 10, 5, 1.0, None),
        (5, 10, 0, 10.0, 10.0),
        (6, 10, 4, 10.0, 20.0),
        (10, 10, 0, 10.0, 0.0),
        (11, 10, 0, 10.0, 0.0),
    ],
)
def test_time_left_counts_only_documents_that_cost_time(
    done: int, total: int | None, unchanged: int, seconds: float, left: float | None
) -> None:
    assert IngestProgress(done, total, unchanged, 3 * done, 3 * done, seconds).seconds_left == left


def test_rate_is_passages_a_second() -> None:
    assert IngestProgress(2, None, 0, 20, 30, 10.0).rate == 3.0
    assert IngestProgress(0, None, 0, 0, 0, 0.0).rate == 0.0


def test_a_line_stays_on_its_line_until_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    print_progress(IngestProgress(1, 2, 0, 2, 3, 2.0))
    print_progress(IngestProgress(2, 2, 0, 6, 6, 4.0))
    shown = capsys.readouterr().err
    assert shown == "\r1/2 documents, 3 passages, 2/s, 2 s left \r2/2 documents, 6 passages, 2/s, 0 s left \n"
