"""What a memory block is: it takes in what falls out of the history, and says what it holds of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from responsa.packing.cutting import shorten
from responsa.programs.effects import Program
from responsa.prompts.language import Language
from responsa.schema.errors import InvalidOption
from responsa.schema.protocols import LLM, ChatStore
from responsa.schema.stored import StoredMessage


@dataclass(frozen=True, slots=True)
class Recollection:
    """What is asked of a block.

    Args:
        session_id: The session.
        question: What the user says now; empty where it is not known.
        recent: The newest messages, in order.
        language: The conversation's language.
    """

    session_id: str
    question: str
    recent: tuple[StoredMessage, ...]
    language: Language


class BaseMemoryBlock(ABC):
    """A block of memory; written as two programs, so that it needs no sync and async twins.

    What it holds is a value, its state, that the memory keeps with the session: the block itself holds nothing of any
    session, so that one can serve them all. State and place in the conversation are written in one step, and so every
    message is taken in exactly once, whatever fails.

    Args:
        name: Its name, unique in a memory; the model is shown it.
        description: What it is for.
        priority: 0 is given room first, then the highest numbers.
        llm: Who answers its calls; the LLM that answers the conversation when left out.
        state_store: Where its states are kept; with the session when left out.
    """

    asks_model: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        *,
        description: str | None = None,
        priority: int = 0,
        llm: LLM | None = None,
        state_store: ChatStore | None = None,
    ) -> None:
        if not name or not name.isprintable():
            raise InvalidOption("name", name, "a printable text")
        self.name = name
        self.description = description
        self.priority = priority
        self.llm = llm
        self.state_store = state_store

    @abstractmethod
    def content(self, state: Any, recollection: Recollection) -> Program[str]:
        """Return the text the model is shown; empty for nothing. `state` is None before anything was taken in."""

    def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[Any]:
        """Take in messages, oldest first; return the state that holds them: a value that JSON can hold.

        A block that takes nothing in returns None, as here.
        """
        return None
        yield ()

    def belongs(self, state: Any, session_id: str) -> bool:
        """Tell whether a state is of this session; else the block takes in its messages from the first on.

        A fork begins with its origin's states, which a block that keeps everything in its state can go on from.
        """
        return True

    def truncate(self, content: str, room: int) -> Program[str]:
        """Return `content` in `room` tokens: its beginning, as it stands."""
        return (yield from shorten(content, room))
