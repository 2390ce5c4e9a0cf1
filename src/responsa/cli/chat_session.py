"""One conversation in the terminal: its engine, and what became of its last answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from responsa.chat_engine import BaseChatEngine, ChatMode, SimpleChatEngine
from responsa.schema.errors import ResponsaError
from responsa.schema.events import Done, PlanMade
from responsa.schema.plans import Plan
from responsa.schema.response import Response

from .answer_view import AnswerView
from .interrupts import Ended

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex
    from responsa.memory import Memory
    from responsa.schema.protocols import LLM

    from .terminal import Terminal


class ChatSession:
    """A conversation whose engine may change.

    Args:
        terminal: Where answers are written.
        llm: The model that answers.
        memory: The conversation.
        open_index: Opens the index, when a mode first needs it.
        top_k: The most passages retrieved.
        system_prompt: An instruction that stands before everything.
        llm_kwargs: How answers are generated.

    Attributes:
        memory: The conversation.
        mode: How messages are answered.
        plan: What the last answer's calls were to be; None before any.
        response: The last answer; None before any.
    """

    engine: BaseChatEngine

    def __init__(
        self,
        terminal: Terminal,
        llm: LLM,
        memory: Memory,
        open_index: Callable[[], VectorStoreIndex],
        *,
        top_k: int,
        system_prompt: str | None,
        llm_kwargs: Mapping[str, Any],
    ) -> None:
        self.memory = memory
        self.mode = ChatMode.SIMPLE
        self.plan: Plan | None = None
        self.response: Response | None = None
        self._terminal = terminal
        self._llm = llm
        self._open_index = open_index
        self._index: VectorStoreIndex | None = None
        self._top_k = top_k
        self._options: dict[str, Any] = {"memory": memory, "system_prompt": system_prompt, "llm_kwargs": llm_kwargs}

    @property
    def name(self) -> str:
        """The conversation's name."""
        return self.memory.session_id

    @property
    def searches(self) -> bool:
        """Whether answers come from an index."""
        return self.mode is not ChatMode.SIMPLE

    def use(self, mode: ChatMode) -> None:
        """Answer in another way from now on.

        Raises:
            ResponsaError: The mode needs an index, and there is none that can be used. The mode stays what it was.
        """
        if mode is ChatMode.SIMPLE:
            self.engine = SimpleChatEngine(llm=self._llm, **self._options)
        else:
            self._index = self._index or self._open_index()
            self.engine = self._index.as_chat_engine(mode, self._llm, similarity_top_k=self._top_k, **self._options)
        self.mode = mode

    def answer(self, message: str, *, stoppable: bool) -> bool:
        """Answer a message while it is written; return whether that worked.

        Args:
            message: What the user says.
            stoppable: Whether Ctrl-C ends the answer alone.
        """
        view = AnswerView(self._terminal)
        try:
            with closing(self.engine.stream_events(message)) as events:
                try:
                    for event in events:
                        view.show(event)
                        if isinstance(event, PlanMade):
                            self.plan = event.plan
                        elif isinstance(event, Done):
                            self.response = event.response
                finally:
                    view.close()
        except KeyboardInterrupt as stop:
            if not stoppable or isinstance(stop, Ended):
                raise
            self._terminal.note("chat_stopped")
        except ResponsaError as error:
            self._terminal.error(error.render(self._terminal.language))
            return False
        self._terminal.write("")
        return True

    def reset(self) -> None:
        """Forget the conversation."""
        self.engine.reset()
        self.plan = self.response = None
