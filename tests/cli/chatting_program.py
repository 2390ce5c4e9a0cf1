"""The program `responsa chat` on a scripted model; tests run it at a terminal of its own.

The model answers in a few pieces and ends, but to "Count." it counts to three and then says nothing more.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Sequence

from tests.cli.memory_parts import MemoryParts

from responsa.cli import main
from responsa.schema.completions import Delta, Sampling, StreamItem
from responsa.schema.messages import ChatMessage
from responsa.testing import ScriptedLLM


class FallingSilent(ScriptedLLM):
    """A model that may fall silent in the middle of an answer."""

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]:
        if messages[-1].content != "Count.":
            yield from super().stream(messages, sampling)
            return
        for piece in ("one ", "two ", "three"):
            yield Delta(piece)
        threading.Event().wait()


if __name__ == "__main__":
    # The session's leader that opens a terminal has it: then Ctrl-C typed there is a signal to this process.
    os.close(os.open(os.ttyname(0), os.O_RDWR))
    words = sys.argv[1:]
    answer = "A member can borrow up to eight books."
    sys.exit(main(["chat", *words], parts=MemoryParts(FallingSilent(answer))))
