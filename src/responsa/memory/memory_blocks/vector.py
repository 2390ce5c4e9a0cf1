"""What fell out of the history, found again by its meaning."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any, ClassVar, Final

from responsa.memory.chat_stores.simple_chat_store import SimpleChatStore
from responsa.programs.effects import Perform, Program, perform
from responsa.retrieval.defaults import embed_model_for_new_index
from responsa.retrieval.embedding import (
    adimensions_of,
    aquery_vector,
    atext_vectors,
    dimensions_of,
    query_vector,
    text_vectors,
)
from responsa.retrieval.splitting import SentenceSplitter
from responsa.retrieval.stores.contract import Store, StoredDocument, StoreMeta
from responsa.retrieval.stores.memory import MemoryStore
from responsa.retrieval.writing import awriting, writing
from responsa.schema.errors import InvalidOption
from responsa.schema.filters import MetadataFilters
from responsa.schema.identity import fingerprint
from responsa.schema.nodes import Document, NodeWithScore, TextNode
from responsa.schema.protocols import Embedder
from responsa.schema.stored import StoredMessage
from responsa.schema.turns import turns_of

from .asking import transcript
from .base import BaseMemoryBlock, Recollection

_SESSION: Final = "chat_session"
_QUERY_LENGTH: Final = 2000  # characters
_LOCK_WAIT: Final = 10.0  # seconds


class VectorMemoryBlock(BaseMemoryBlock):
    """Keeps turns as vectors, and shows the model those nearest to what is being said.

    Turns are found in their own session only. A turn's identity follows from its session and message, so taking it in
    again changes nothing.

    Args:
        vector_store: Where the vectors are. One in this process's memory when left out: after a restart the turns are
            embedded anew.
        embed_model: The model that embeds; `Settings.embed_model`, else the packaged one, when left out.
        similarity_top_k: The most passages that are shown.
        retrieval_context_window: How many of the newest messages are searched with, beside what the user says now.
        name: Its name.
        description: What it is for.
        priority: See `BaseMemoryBlock`.
    """

    asks_model: ClassVar[bool] = False

    def __init__(
        self,
        *,
        vector_store: Store | None = None,
        embed_model: Embedder | None = None,
        similarity_top_k: int = 2,
        retrieval_context_window: int = 5,
        name: str = "RetrievedMessages",
        description: str | None = None,
        priority: int = 0,
    ) -> None:
        if similarity_top_k < 1:
            raise InvalidOption("similarity_top_k", similarity_top_k, "a number from 1")
        # What a store in memory holds ends with the process, and so must the note of what it holds.
        state_store = SimpleChatStore() if vector_store is None else None
        super().__init__(name, description=description, priority=priority, state_store=state_store)
        self.similarity_top_k = similarity_top_k
        self.retrieval_context_window = retrieval_context_window
        self._given_model = embed_model
        self._store = vector_store
        self._making = Lock()
        self._splitter = SentenceSplitter()

    @property
    def embed_model(self) -> Embedder:
        """The model that embeds."""
        if self._given_model is None:
            self._given_model = embed_model_for_new_index()
        return self._given_model

    def belongs(self, state: Any, session_id: str) -> bool:
        return bool(state == fingerprint(session_id))

    def content(self, state: Any, recollection: Recollection) -> Program[str]:
        query = self._query(recollection)
        if not self.belongs(state, recollection.session_id) or not query:
            return ""
        filters = MetadataFilters.from_dict({_SESSION: fingerprint(recollection.session_id)})

        def search() -> list[NodeWithScore]:
            store = self._made(lambda: dimensions_of(self.embed_model))
            return store.dense_search(query_vector(self.embed_model, query, store), self.similarity_top_k, filters)

        async def asearch() -> list[NodeWithScore]:
            store = await self._amade()
            vector = await aquery_vector(self.embed_model, query, store)
            return await store.adense_search(vector, self.similarity_top_k, filters)

        found: list[NodeWithScore] = yield from perform(Perform(self.name, search, asearch))
        return "\n\n".join(one.text for one in found)

    def absorb(self, state: Any, messages: Sequence[StoredMessage], session_id: str) -> Program[str]:
        """Embed and store messages by turns; what an earlier conversation of the session left is removed first."""
        session = fingerprint(session_id)
        anew = not self.belongs(state, session_id)
        nodes = [self._nodes(session, turn) for turn in turns_of(messages)]
        texts = [node.text for turn in nodes for node in turn]

        def store_them() -> None:
            store = self._made(lambda: dimensions_of(self.embed_model))
            documents = _documents(nodes, text_vectors(self.embed_model, texts, store))
            with writing(store, _LOCK_WAIT):
                if anew:
                    store.delete_documents(_of_session(store.document_hashes(), session))
                store.replace_documents(documents)

        async def astore_them() -> None:
            store = await self._amade()
            documents = _documents(nodes, await atext_vectors(self.embed_model, texts, store))
            async with awriting(store, _LOCK_WAIT):
                if anew:
                    await store.adelete_documents(_of_session(await store.adocument_hashes(), session))
                await store.areplace_documents(documents)

        yield from perform(Perform(self.name, store_them, astore_them))
        return session

    def forget(self, session_id: str) -> None:
        """Remove a session's vectors, such as when the session is deleted."""
        if (store := self._store) is not None:
            with writing(store, _LOCK_WAIT):
                store.delete_documents(_of_session(store.document_hashes(), fingerprint(session_id)))

    async def aforget(self, session_id: str) -> None:
        """Remove a session's vectors without blocking; see `forget`."""
        if (store := self._store) is not None:
            async with awriting(store, _LOCK_WAIT):
                found = _of_session(await store.adocument_hashes(), fingerprint(session_id))
                await store.adelete_documents(found)

    def _query(self, recollection: Recollection) -> str:
        recent = recollection.recent[-self.retrieval_context_window :] if self.retrieval_context_window > 0 else ()
        said = [message.content for message in recent]
        if recollection.question and recollection.question not in said[-1:]:
            said.append(recollection.question)
        return "\n".join(filter(None, said))[-_QUERY_LENGTH:].strip()

    def _nodes(self, session: str, turn: Sequence[StoredMessage]) -> list[TextNode]:
        first = f"{session}:{fingerprint(turn[0].id)}"
        nodes = self._splitter.get_nodes_from_documents([Document(transcript(turn), id_=first)])
        for node in nodes:
            node.metadata = {_SESSION: session}
            node.ref_doc_id = first
        return nodes

    def _made(self, dimensions: Callable[[], int]) -> Store:
        with self._making:
            if self._store is None:
                self._store = MemoryStore(StoreMeta(self.embed_model.model_name, dimensions()))
            return self._store

    async def _amade(self) -> Store:
        if self._store is not None:
            return self._store
        dimensions = await adimensions_of(self.embed_model)
        return self._made(lambda: dimensions)


def _documents(turns: Sequence[Sequence[TextNode]], vectors: Sequence[array[float]]) -> list[StoredDocument]:
    documents: list[StoredDocument] = []
    left = list(vectors)
    for turn in filter(None, turns):
        content = fingerprint(*(node.text for node in turn))
        documents.append(StoredDocument(turn[0].ref_doc_id or "", content, turn, left[: len(turn)]))
        del left[: len(turn)]
    return documents


def _of_session(doc_ids: Iterable[str], session: str) -> list[str]:
    return [doc_id for doc_id in doc_ids if doc_id.startswith(f"{session}:")]
