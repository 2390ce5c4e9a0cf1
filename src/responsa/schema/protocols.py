"""The seams: what the engine needs of a model, an embedder and a reranker, whoever makes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any, Protocol

from .completions import LLMMetadata, Sampling, StreamItem
from .messages import ChatMessage
from .nodes import NodeWithScore, QueryBundle
from .stored import MessageStatus, Session, SessionState, StoredMessage


class LLM(Protocol):
    """A model that answers messages with a stream. Closing the stream cancels the request.

    Every method without `a` in front blocks; its twin with `a` does not. A stream yields `Delta`s and then one
    `Finish`; it raises one of `responsa.schema.errors` when it fails.
    """

    @property
    def metadata(self) -> LLMMetadata: ...
    async def ametadata(self) -> LLMMetadata: ...

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]: ...
    def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...
    async def acount_tokens(self, texts: Sequence[str]) -> list[int]: ...
    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]: ...
    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]: ...


class Embedder(Protocol):
    """A model that turns texts into vectors, told apart as queries and passages."""

    @property
    def model_name(self) -> str: ...

    def get_query_embedding(self, query: str) -> list[float]: ...
    async def aget_query_embedding(self, query: str) -> list[float]: ...
    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]: ...
    async def aget_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]: ...


class Retriever(Protocol):
    """Finds passages for a question, best first."""

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]: ...
    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]: ...


class Postprocessor(Protocol):
    """Filters, reorders or rescores retrieved passages, leaving the given ones as they are."""

    def postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]: ...
    async def apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]: ...


class Reranker(Protocol):
    """A model that says how well texts answer a question: one score a text, in their order, higher for better."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]: ...
    async def arerank(self, query: str, texts: Sequence[str]) -> list[float]: ...


class ChatStore(Protocol):
    """Keeps sessions and their messages, each session by its key: any text at all.

    Every method without `a` in front blocks; its twin with `a` does not. A write is whole or does not happen, is kept
    when it returns, and is seen by every later read, in other processes too where they share the store. Whoever
    writes to a session at the same time, no message is lost.

    Messages are ordered as they were added, but one with a `turn` stands behind the last message of that turn, and
    stays there; where no message of that identity begins a turn, it stands alone.
    """

    @property
    def location(self) -> str:
        """Where the store is, for messages."""
        ...

    def create_session(self, session_id: str | None = None, title: str = "") -> Session:
        """Begin a session, or return the one that has this key."""
        ...

    async def acreate_session(self, session_id: str | None = None, title: str = "") -> Session: ...

    def list_sessions(self, limit: int | None = None, offset: int = 0, *, prefix: str = "") -> list[Session]:
        """Return the sessions whose key begins with `prefix`, last written first."""
        ...

    async def alist_sessions(self, limit: int | None = None, offset: int = 0, *, prefix: str = "") -> list[Session]: ...

    def get_session(self, session_id: str) -> Session | None:
        """Return a session, or None."""
        ...

    async def aget_session(self, session_id: str) -> Session | None: ...

    def rename_session(self, session_id: str, title: str) -> Session:
        """Give a session another title. Raises SessionNotFound."""
        ...

    async def arename_session(self, session_id: str, title: str) -> Session: ...

    def delete_session(self, session_id: str) -> bool:
        """Remove a session with all that belongs to it; return whether it was there."""
        ...

    async def adelete_session(self, session_id: str) -> bool: ...

    def fork_session(
        self, session_id: str, upto_message_id: str, new_session_id: str | None = None, title: str | None = None
    ) -> Session:
        """Begin a new session with the messages up to one of them, that one included; they keep their identities.

        Raises SessionNotFound, MessageNotFound, and InvalidOption if `new_session_id` is taken.
        """
        ...

    async def afork_session(
        self, session_id: str, upto_message_id: str, new_session_id: str | None = None, title: str | None = None
    ) -> Session: ...

    def add_message(self, session_id: str, message: ChatMessage | StoredMessage) -> str:
        """Add a message, beginning the session if it is not there; return the message's identity."""
        ...

    async def aadd_message(self, session_id: str, message: ChatMessage | StoredMessage) -> str: ...

    def add_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> list[str]:
        """Add messages all in one step; return their identities."""
        ...

    async def aadd_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> list[str]: ...

    def replace_message(
        self, session_id: str, message: StoredMessage, *, expected: MessageStatus | None = None
    ) -> bool:
        """Put `message` in the place of the one with its identity.

        Returns whether that was done: not if there is none, or if it has another status than the one `expected`.
        """
        ...

    async def areplace_message(
        self, session_id: str, message: StoredMessage, *, expected: MessageStatus | None = None
    ) -> bool: ...

    def list_messages(self, session_id: str) -> list[StoredMessage]:
        """Return a session's messages in order; none where there is no such session."""
        ...

    async def alist_messages(self, session_id: str) -> list[StoredMessage]: ...

    def set_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> None:
        """Put `messages` in the place of all that the session holds, its states removed."""
        ...

    async def aset_messages(self, session_id: str, messages: Sequence[ChatMessage | StoredMessage]) -> None: ...

    def delete_messages(self, session_id: str) -> None:
        """Remove a session's messages and states; the session stays."""
        ...

    async def adelete_messages(self, session_id: str) -> None: ...

    def truncate_after(self, session_id: str, message_id: str, *, including: bool = False) -> int:
        """Remove what follows a message, and the message itself if `including`; return how many were removed.

        For regenerating an answer, and for editing a question. Raises SessionNotFound and MessageNotFound.
        """
        ...

    async def atruncate_after(self, session_id: str, message_id: str, *, including: bool = False) -> int: ...

    def get_states(self, session_id: str) -> dict[str, SessionState]:
        """Return what is kept with a session, by name."""
        ...

    async def aget_states(self, session_id: str) -> dict[str, SessionState]: ...

    def set_state(self, session_id: str, name: str, value: Any, *, expected_version: int) -> bool:
        """Keep a value with a session; return whether that was done: not if the version is another by now."""
        ...

    async def aset_state(self, session_id: str, name: str, value: Any, *, expected_version: int) -> bool: ...
