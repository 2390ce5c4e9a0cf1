"""However the program is asked to end, it ends in order."""

from __future__ import annotations

import os
import signal

import pytest

from responsa.cli.interrupts import interrupted_by_signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_what_runs_inside_as_ctrl_c_does(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interrupted_by_signals():
        os.kill(os.getpid(), number)
        signal.pause()
    assert signal.getsignal(number) == before


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interrupted_by_signals():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
