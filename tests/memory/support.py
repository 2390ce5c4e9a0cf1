"""Conversations and blocks to test with."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from responsa.memory import BaseMemoryBlock, Recollection
from responsa.programs import Program
from responsa.schema.errors import StepFailed
from responsa.schema.messages import ChatMessage, ImageBlock, MessageRole, TextBlock
from responsa.schema.stored import StoredMessage
from responsa.testing import ScriptedLLM

LLM = ScriptedLLM()


def user(text: str) -> ChatMessage:
    return ChatMessage("user", text)


def assistant(text: str) -> ChatMessage:
    return ChatMessage("assistant", text)


def talk(turns: int, words: int = 3, begin: int = 0) -> list[ChatMessage]:
    """Turns of a question and an answer, each of `words` words and its number."""
    said = [
        (user("question " * words + str(n)), assistant("answer " * words + str(n))) for n in range(begin, begin + turns)
    ]
    return [message for turn in said for message in turn]


def tokens(messages: Sequence[ChatMessage]) -> int:
    """What a memory counts: the texts, as the scripted LLM counts them, and 256 a picture."""
    pictures = sum(isinstance(block, ImageBlock) for message in messages for block in message.blocks)
    return sum(LLM.count_tokens([message.content for message in messages])) + 256 * pictures


def texts(messages: Sequence[ChatMessage] | Sequence[StoredMessage]) -> list[str]:
    return [message.content for message in messages]


class Way:
    """Calls the methods of anything by one of their two forms: blocking, or in an event loop."""

    def __init__(self, loop: asyncio.Runner | None = None) -> None:
        self.loop = loop

    def __call__(self, owner: Any, name: str, *args: Any, **options: Any) -> Any:
        if self.loop is None:
            return getattr(owner, name)(*args, **options)

        async def made() -> Any:
            return await getattr(owner, f"a{name}")(*args, **options)

        return self.loop.run(made())


TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(["word", "数据", "。", "42", "\n", '"""', "{x}", "\x00", "e\u0301"]), max_size=60).map(
        " ".join
    ),
)
ROLES = st.sampled_from([*MessageRole, MessageRole.USER, MessageRole.ASSISTANT, MessageRole.ASSISTANT])


@st.composite
def messages(draw: st.DrawFn) -> ChatMessage:
    blocks: list[TextBlock | ImageBlock] = [TextBlock(draw(TEXTS))]
    if draw(st.integers(0, 9)) == 0:
        blocks.append(ImageBlock(url="https://example.org/a.png"))
    return ChatMessage(draw(ROLES), blocks=blocks)


HISTORIES = st.lists(messages(), max_size=14)


class RecordingBlock(BaseMemoryBlock):
    """Keeps the identities it took in, shows some of them, and fails when told to.

    Attributes:
        fail: Whether it fails now.
        seen: Every batch it was given.
    """

    def __init__(self, name: str = "Recorded", *, ahead: bool = False, shows: int = 0, **options: Any) -> None:
        super().__init__(name, **options)
        self.asks_model = ahead  # type: ignore[misc]
        self.fail = False
        self.shows = shows
        self.seen: list[list[str]] = []

    def content(self, state: Any, recollection: Recollection) -> Program[str]:
        return " ".join((state or [])[-self.shows :]) if self.shows else ""
        yield ()

    def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[list[str]]:
        if self.fail:
            raise StepFailed("absorb", "told to fail")
        self.seen.append([message.id for message in messages])
        return [*(state or []), *(message.id for message in messages)]
        yield ()
