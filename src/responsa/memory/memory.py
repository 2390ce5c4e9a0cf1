"""What a conversation remembers: its messages, and within a limit of tokens what the model is sent of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from responsa.programs import Program, arun, run
from responsa.schema.errors import InvalidOption
from responsa.schema.messages import ChatMessage
from responsa.schema.protocols import LLM, ChatStore
from responsa.schema.stored import StoredMessage, new_id
from responsa.settings import Settings

from .chat_stores.simple_chat_store import SimpleChatStore
from .insertion import InsertMethod
from .memory_blocks.base import BaseMemoryBlock
from .queued import QueuedMessage, queue_message
from .recalling import Policy, recall, sends_reasoning
from .store_steps import added, listed
from .turns import Turn, open_turn, recovered

if TYPE_CHECKING:
    from responsa.packing.prompt_helper import Tokenizer

DEFAULT_TOKEN_LIMIT = 6000


class Memory:
    """The messages of one session, and what the model is sent of them.

    The messages are in the chat store and nowhere else, so several memories, in several processes, can share a
    session. `recall`, `remember`, `open_turn` and `settle` are programs, for engines to build on; the other methods
    run them, blocking and not.

    Args:
        session_id: The session's key; a new one when left out.
        token_limit: The most tokens of history, pinned system messages and memory blocks together, whenever they are
            read. An over-long message is cut to fit.
        chat_store: Where the messages are; a list in memory when left out.
        memory_blocks: What takes in the messages that do not fit any more.
        insert_method: Where the blocks' content goes: into the system message or the last user message.
        tokenizer_fn: Turns a text into its tokens, for counting outside of an engine; the LLM counts when left out.
        llm: Who counts, and answers the blocks' calls, outside of an engine; `Settings.llm` when left out. Without
            any, tokens are estimated from above.
        send_reasoning: Whether the model is sent the reasoning of its earlier answers, as `reasoning_content`; or the
            names of the models that are, such as `["qwen3-*", "deepseek-r1"]`.
        chat_history_token_ratio: The blocks may fill what this share of the limit leaves.
        token_flush_size: How many tokens of the oldest messages blocks that ask a model take in ahead of time, so that
            they need not ask at every turn; a tenth of the limit when left out.

    Raises:
        InvalidOption: A limit under 1, or two blocks of one name.
    """

    def __init__(
        self,
        session_id: str | None = None,
        *,
        token_limit: int = DEFAULT_TOKEN_LIMIT,
        chat_store: ChatStore | None = None,
        memory_blocks: Sequence[BaseMemoryBlock] | None = None,
        insert_method: InsertMethod | str = InsertMethod.SYSTEM,
        tokenizer_fn: Tokenizer | None = None,
        llm: LLM | None = None,
        send_reasoning: bool | Sequence[str] = False,
        chat_history_token_ratio: float = 0.7,
        token_flush_size: int | None = None,
    ) -> None:
        if token_limit < 1:
            raise InvalidOption("token_limit", token_limit, "a number of tokens from 1")
        if not 0 < chat_history_token_ratio <= 1:
            raise InvalidOption("chat_history_token_ratio", chat_history_token_ratio, "a number above 0, at most 1")
        blocks = tuple(memory_blocks or ())
        names = [block.name for block in blocks]
        if len(set(names)) < len(names):
            raise InvalidOption("memory_blocks", names, "blocks of different names")
        if insert_method not in tuple(InsertMethod):
            raise InvalidOption("insert_method", insert_method, "system or user")
        self.session_id = new_id() if session_id is None else session_id
        self.token_limit = token_limit
        self.chat_store: ChatStore = SimpleChatStore() if chat_store is None else chat_store
        self.memory_blocks = blocks
        self.insert_method = InsertMethod(insert_method)
        self.tokenizer_fn = tokenizer_fn
        self.llm = llm
        self.send_reasoning = send_reasoning
        self.chat_history_token_ratio = chat_history_token_ratio
        self.token_flush_size = max(token_limit // 10, 1) if token_flush_size is None else token_flush_size

    @classmethod
    def from_defaults(
        cls,
        session_id: str | None = None,
        *,
        token_limit: int = DEFAULT_TOKEN_LIMIT,
        chat_history: Sequence[ChatMessage] | None = None,
        chat_store: ChatStore | None = None,
        memory_blocks: Sequence[BaseMemoryBlock] | None = None,
        insert_method: InsertMethod | str = InsertMethod.SYSTEM,
        tokenizer_fn: Tokenizer | None = None,
        llm: LLM | None = None,
        send_reasoning: bool | Sequence[str] = False,
        chat_history_token_ratio: float = 0.7,
        token_flush_size: int | None = None,
    ) -> Self:
        """Make a memory; a `chat_history` takes the place of what its session holds. See `Memory` for the rest."""
        memory = cls(
            session_id,
            token_limit=token_limit,
            chat_store=chat_store,
            memory_blocks=memory_blocks,
            insert_method=insert_method,
            tokenizer_fn=tokenizer_fn,
            llm=llm,
            send_reasoning=send_reasoning,
            chat_history_token_ratio=chat_history_token_ratio,
            token_flush_size=token_flush_size,
        )
        if chat_history is not None:
            memory.set(chat_history)
        return memory

    def recall(
        self, input: str | None = None, *, before: str | None = None, limit: int | None = None
    ) -> Program[list[ChatMessage]]:
        """Return what the model is sent of the session, within the limit, as a program.

        The tokens are counted by the LLM that the program runs with. What falls out goes to the memory blocks, which
        may ask that LLM.

        Args:
            input: What the user says now, for blocks that search by it.
            before: The identity of a message: only what came before it is recalled. For an engine that has stored the
                user's message already.
            limit: A smaller limit than the memory's own, in tokens, where the prompt leaves less room.
        """
        messages = yield from listed(self.chat_store, self.session_id)
        sends = yield from sends_reasoning(self.send_reasoning)
        policy = self._policy(self.token_limit if limit is None else min(limit, self.token_limit), sends)
        return (yield from recall(messages, policy, self.chat_store, self.session_id, input or "", before))

    def settle(self) -> Program[None]:
        """Hand what has fallen out to the memory blocks now, so that the next recall need not; as a program."""
        if self.memory_blocks:
            yield from self.recall()

    def remember(self, messages: Sequence[ChatMessage | StoredMessage]) -> Program[list[str]]:
        """Store messages and return their identities, as a program. A plan of it would store them too."""
        return (yield from added(self.chat_store, self.session_id, messages))

    def queue_message(self, message: ChatMessage) -> Program[QueuedMessage | None]:
        """Store a user's message whose turn is to come, as a program; None where the last turn asks it already.

        It is left out of what is recalled until its turn is opened with it.
        """
        return (yield from queue_message(self.chat_store, self.session_id, message))

    def open_turn(self, message: ChatMessage, queued: QueuedMessage | None = None) -> Program[Turn]:
        """Store a user's message and begin its answer, as a program; see `begin_turn`.

        A plan of it would store the message too.

        Args:
            message: The message.
            queued: The message as it was stored before its turn came.
        """
        return (yield from open_turn(self.chat_store, self.session_id, message, queued))

    def begin_turn(self, message: ChatMessage) -> Turn:
        """Store a user's message, and begin its answer as an empty partial one.

        The same message again after an answer that broke off is a retry: the turn is not doubled.
        """
        return run(self.open_turn(message))

    async def abegin_turn(self, message: ChatMessage) -> Turn:
        """Store a user's message and begin its answer without blocking; see `begin_turn`."""
        return await arun(self.open_turn(message))

    def recover(self) -> list[StoredMessage]:
        """Mark answers that a dead process left partial as interrupted; return all messages as they are stored."""
        return run(recovered(self.chat_store, self.session_id))

    async def arecover(self) -> list[StoredMessage]:
        """Mark what a dead process left partial, without blocking; see `recover`."""
        return await arun(recovered(self.chat_store, self.session_id))

    def get(self, input: str | ChatMessage | None = None) -> list[ChatMessage]:
        """Return what the model is sent, within the limit; see `recall`."""
        return run(self.recall(_text_of(input)), self._counter())

    async def aget(self, input: str | ChatMessage | None = None) -> list[ChatMessage]:
        """Return what the model is sent, without blocking; see `recall`."""
        return await arun(self.recall(_text_of(input)), self._counter())

    def get_all(self) -> list[ChatMessage]:
        """Return all messages of the session."""
        return [stored.message for stored in self.chat_store.list_messages(self.session_id)]

    async def aget_all(self) -> list[ChatMessage]:
        """Return all messages of the session without blocking."""
        return [stored.message for stored in await self.chat_store.alist_messages(self.session_id)]

    def put(self, message: ChatMessage) -> None:
        """Store a message."""
        self.chat_store.add_message(self.session_id, message)

    async def aput(self, message: ChatMessage) -> None:
        """Store a message without blocking."""
        await self.chat_store.aadd_message(self.session_id, message)

    def put_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Store messages in one step."""
        self.chat_store.add_messages(self.session_id, messages)

    async def aput_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Store messages in one step without blocking."""
        await self.chat_store.aadd_messages(self.session_id, messages)

    def set(self, messages: Sequence[ChatMessage]) -> None:
        """Put messages in the place of all that the session holds; none clears it."""
        self.chat_store.set_messages(self.session_id, messages)

    async def aset(self, messages: Sequence[ChatMessage]) -> None:
        """Put messages in the place of all that the session holds, without blocking."""
        await self.chat_store.aset_messages(self.session_id, messages)

    def reset(self) -> None:
        """Forget the session's messages, and what the memory blocks hold of them."""
        self.chat_store.delete_messages(self.session_id)

    async def areset(self) -> None:
        """Forget the session's messages without blocking; see `reset`."""
        await self.chat_store.adelete_messages(self.session_id)

    def _policy(self, limit: int, send_reasoning: bool) -> Policy:
        ranked = sorted(self.memory_blocks, key=lambda block: (block.priority != 0, -block.priority))
        return Policy(
            limit,
            tuple(ranked),
            self.insert_method,
            1 - self.chat_history_token_ratio,
            self.token_flush_size,
            send_reasoning,
            Settings.language,
        )

    def _counter(self) -> LLM:
        llm = self.llm if self.llm is not None else Settings.llm
        if llm is not None and self.tokenizer_fn is None:
            return llm
        from responsa.packing.hand_counter import HandCounter

        return HandCounter(self.tokenizer_fn, llm, owner="the memory's blocks")


def _text_of(input: str | ChatMessage | None) -> str | None:
    return input.content if isinstance(input, ChatMessage) else input
