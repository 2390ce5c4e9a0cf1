"""The memory of earlier days, by its old name."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Self

from responsa.programs import arun, run
from responsa.schema.errors import InvalidOption
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM, ChatStore

from .chat_stores.serialization import chat_message_from_json, chat_message_to_json, to_text
from .memory import Memory

if TYPE_CHECKING:
    from responsa.packing.prompt_helper import Tokenizer

DEFAULT_CHAT_STORE_KEY: Final = "chat_history"
_DEFAULT_TOKEN_LIMIT: Final = 3000
_SHARE_OF_WINDOW: Final = 0.75


class ChatMemoryBuffer(Memory):
    """A `Memory` without blocks, under its old name. Deprecated: use `Memory`.

    Args:
        token_limit: The most tokens `get` returns.
        chat_store: Where the messages are; a list in memory when left out.
        chat_store_key: The session's key.
        tokenizer_fn: See `Memory`.
        llm: See `Memory`.
    """

    def __init__(
        self,
        token_limit: int = _DEFAULT_TOKEN_LIMIT,
        *,
        chat_store: ChatStore | None = None,
        chat_store_key: str = DEFAULT_CHAT_STORE_KEY,
        tokenizer_fn: Tokenizer | None = None,
        llm: LLM | None = None,
    ) -> None:
        _warn()
        super().__init__(
            chat_store_key, token_limit=token_limit, chat_store=chat_store, tokenizer_fn=tokenizer_fn, llm=llm
        )

    @classmethod
    def from_defaults(  # type: ignore[override]  # its own, older keywords
        cls,
        chat_history: Sequence[ChatMessage] | None = None,
        llm: LLM | None = None,
        chat_store: ChatStore | None = None,
        chat_store_key: str = DEFAULT_CHAT_STORE_KEY,
        token_limit: int | None = None,
        tokenizer_fn: Tokenizer | None = None,
    ) -> Self:
        """Make a memory; the limit is three quarters of the LLM's window, or 3,000 tokens without one."""
        if token_limit is None:
            token_limit = int(llm.metadata.context_window * _SHARE_OF_WINDOW) if llm else _DEFAULT_TOKEN_LIMIT
        memory = cls(
            token_limit, chat_store=chat_store, chat_store_key=chat_store_key, tokenizer_fn=tokenizer_fn, llm=llm
        )
        if chat_history is not None:
            memory.set(chat_history)
        return memory

    def get(self, input: str | ChatMessage | None = None, initial_token_count: int = 0) -> list[ChatMessage]:
        """Return what fits beside `initial_token_count` tokens that the prompt has already."""
        return run(self.recall(limit=self._left(initial_token_count)), self._counter())

    async def aget(self, input: str | ChatMessage | None = None, initial_token_count: int = 0) -> list[ChatMessage]:
        """Return what fits, without blocking; see `get`."""
        return await arun(self.recall(limit=self._left(initial_token_count)), self._counter())

    def to_dict(self) -> dict[str, Any]:
        """Return the messages, the key and the limit as JSON values."""
        messages = [chat_message_to_json(message) for message in self.get_all()]
        return {"token_limit": self.token_limit, "chat_store_key": self.session_id, "messages": messages}

    def to_string(self) -> str:
        """Return the messages, the key and the limit as JSON."""
        return to_text("message", self.to_dict())

    @classmethod
    def from_dict(cls, data: dict[str, Any], *, llm: LLM | None = None, tokenizer_fn: Tokenizer | None = None) -> Self:
        """Make a memory of what `to_dict` returned.

        Raises:
            InvalidOption: It is something else.
        """
        try:
            messages = [chat_message_from_json(message) for message in data["messages"]]
            key, limit = str(data["chat_store_key"]), int(data["token_limit"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidOption("data", type(data).__name__, f"what to_dict returned ({error})") from error
        return cls.from_defaults(messages, llm, chat_store_key=key, token_limit=limit, tokenizer_fn=tokenizer_fn)

    @classmethod
    def from_string(cls, json_str: str, *, llm: LLM | None = None, tokenizer_fn: Tokenizer | None = None) -> Self:
        """Make a memory of what `to_string` returned.

        Raises:
            InvalidOption: It is something else.
        """
        try:
            data = json.loads(json_str)
        except (ValueError, RecursionError) as error:
            raise InvalidOption("json_str", "this text", f"what to_string returned ({error})") from error
        return cls.from_dict(data, llm=llm, tokenizer_fn=tokenizer_fn)

    def _left(self, initial_token_count: int) -> int:
        if initial_token_count > self.token_limit:
            raise InvalidOption(
                "initial_token_count", initial_token_count, f"at most the token limit of {self.token_limit}"
            )
        return self.token_limit - initial_token_count


def _warn() -> None:
    """Warn whoever called this module, however deep in it the call is now."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        level, frame = level + 1, frame.f_back
    warnings.warn("ChatMemoryBuffer is deprecated: use Memory.from_defaults.", DeprecationWarning, stacklevel=level)
