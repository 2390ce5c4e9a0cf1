"""A conversation with a person at a terminal: Ctrl-C, the end, the lines typed before."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from responsa.memory import Memory, SimpleChatStore

CTRL_C, CTRL_D, LINE_BEFORE = b"\x03", b"\x04", b"\x10"
PATIENCE = 120.0  # seconds until a test gives up; nothing waits for them to pass


class Screen:
    """A terminal with the program running at it."""

    def __init__(self, home: Path, *options: str) -> None:
        self.fd, child = pty.openpty()
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("RESPONSA_", "LC_", "LANG"))},
            "XDG_DATA_HOME": str(home),
            "TERM": "dumb",
            "PYTHONPATH": os.pathsep.join(sys.path),
            "LC_ALL": "C.UTF-8",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.chatting_program", *options],
            stdin=child,
            stdout=child,
            stderr=child,
            cwd=Path(__file__).parents[2],
            env=environment,
            start_new_session=True,
        )
        os.close(child)
        self.shown = ""

    def type(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def press_until(self, key: bytes, text: str) -> None:
        """Press a key again and again, as one does, until `text` is shown.

        A signal that comes just before readline waits for a key is seen with the next key only.
        """
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} was never shown: {self.shown!r}"
            self.type(key)
            while text not in self.shown and self._read(until=min(time.monotonic() + 2, deadline)):
                pass
        self.shown = self.shown.partition(text)[2]

    def until(self, text: str) -> str:
        """Wait until `text` is shown behind all that was waited for; return what was shown before it."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown:
            assert self._read(until=deadline), f"{text!r} was never shown: {self.shown!r}"
        before, _, self.shown = self.shown.partition(text)
        return before

    def _read(self, until: float) -> bool:
        """Take in what is shown next; False where nothing comes in time, or the program has closed the terminal."""
        ready, _, _ = select.select([self.fd], [], [], max(until - time.monotonic(), 0))
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.shown += data.decode("utf-8", "replace")
        return bool(data)

    def code(self) -> int:
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


@pytest.fixture
def screens(tmp_path: Path) -> Iterator[list[Screen]]:
    """The terminals of a test; `begun` adds one."""
    opened: list[Screen] = []
    yield opened
    for screen in opened:
        screen.close()


def begun(screens: list[Screen], home: Path) -> Screen:
    screen = Screen(home, "--session", "s")
    screens.append(screen)
    screen.until("/help lists the commands")
    screen.until("> ")
    return screen


def spoken(home: Path) -> list[tuple[str, str, str]]:
    store = SimpleChatStore(home / "responsa" / "chats.jsonl")
    return [(one.content, one.status, one.reason) for one in Memory("s", chat_store=store).recover()]


EIGHT = "A member can borrow up to eight books."


def test_ctrl_c_stops_the_answer_and_keeps_the_conversation(screens: list[Screen], tmp_path: Path) -> None:
    screen = begun(screens, tmp_path)
    screen.type(b"Count.\n")
    screen.until("one two three")
    screen.press_until(CTRL_C, "Stopped. What was written is kept")
    screen.until("> ")
    assert spoken(tmp_path) == [("Count.", "complete", ""), ("one two three", "interrupted", "closed")]
    screen.type(b"How many?\n")
    screen.until(EIGHT)
    screen.until("> ")
    screen.type(CTRL_D)
    screen.until("responsa chat --session s")
    assert screen.code() == 0
    assert spoken(tmp_path)[2:] == [("How many?", "complete", ""), (EIGHT, "complete", "")]


def test_ctrl_c_at_the_prompt_gives_up_the_line_only(screens: list[Screen], tmp_path: Path) -> None:
    screen = begun(screens, tmp_path)
    screen.type(b"How ma")
    screen.until("How ma")
    screen.press_until(CTRL_C, "To end: Ctrl-D or /quit")
    screen.until("> ")
    screen.type(b"/quit\n")
    assert screen.code() == 0
    assert spoken(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_told_to_end_ends_and_keeps_what_was_delivered(
    screens: list[Screen], tmp_path: Path, number: signal.Signals
) -> None:
    screen = begun(screens, tmp_path)
    screen.type(b"Count.\n")
    screen.until("one two three")
    screen.process.send_signal(number)
    screen.until("Interrupted.")
    assert screen.code() == 130
    assert spoken(tmp_path) == [("Count.", "complete", ""), ("one two three", "interrupted", "closed")]


def test_lines_typed_before_come_back_in_the_next_conversation(screens: list[Screen], tmp_path: Path) -> None:
    pytest.importorskip("readline")
    first = begun(screens, tmp_path)
    first.type("How many? 几本？\n".encode())
    first.until(EIGHT)
    first.until("> ")
    first.type(CTRL_D)
    assert first.code() == 0
    history = tmp_path / "responsa" / "chat_history"
    assert history.stat().st_mode & 0o777 == 0o600
    second = begun(screens, tmp_path)
    second.type(LINE_BEFORE + b"\n")
    second.until(EIGHT)
    second.until("> ")
    second.type(CTRL_D)
    assert second.code() == 0
    assert [content for content, _, _ in spoken(tmp_path)] == ["How many? 几本？", EIGHT] * 2
