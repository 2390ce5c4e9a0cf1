"""The index: documents in, a retriever out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from responsa.schema.errors import EmbeddingMismatch, InvalidOption, MissingPart
from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import Document, MetadataMode, TextNode
from responsa.schema.protocols import Embedder, Retriever

from .defaults import default_transformations, embed_model_for_index_of, embed_model_for_new_index
from .embedding import adimensions_of, atext_vectors, dimensions_of, text_vectors
from .ingest import DEFAULT_BATCH_SIZE, IngestSteps, Transformation, ingest_steps
from .progress import IngestReport, ProgressCallback, print_progress
from .retrievers import DEFAULT_TOP_K, BM25Retriever, HybridRetriever, VectorIndexRetriever
from .stores.contract import Store, StoreMeta
from .stores.lance import LanceStore
from .stores.memory import MemoryStore
from .stores.opening import aopen_or_create_store, open_or_create_store
from .writing import arun_ingest, awriting, run_ingest, writing


class PassageIndex:
    """Passages of documents, found again by meaning and by words.

    An index in a directory outlives the process and is shared by processes: many read, one writes at a time. Each
    batch of documents is stored as a whole, so that whatever ends a process in the middle, no stored document is lost
    and none is stored twice; going through the same documents again does what is left.

    Args:
        store: Where the passages are.
        embed_model: The model that made, and makes, the store's vectors. Without one only words can be searched.
        transformations: What cuts documents into passages, then what changes the passages; sentences packed to chunks
            of the splitter's usual size where None.
        batch_size: The passages embedded in one call. They are written every two seconds.
        lock_timeout: How long to wait for another writer, in seconds.

    Raises:
        EmbeddingMismatch: The store's vectors come from another model.
    """

    def __init__(
        self,
        store: Store,
        *,
        embed_model: Embedder | None = None,
        transformations: Sequence[Transformation] | None = None,
        batch_size: int = DEFAULT_BATCH_SIZE,
        lock_timeout: float = 2.0,
    ) -> None:
        if batch_size < 1:
            raise InvalidOption("batch_size", batch_size, "a whole number of at least 1")
        meta = store.meta
        if embed_model is not None and embed_model.model_name != meta.embed_model:
            raise EmbeddingMismatch(store.location, meta.embed_model, meta.dimensions, embed_model.model_name, None)
        self._store = store
        self._embed_model = embed_model
        self._transformations = transformations
        self._batch_size = batch_size
        self._lock_timeout = lock_timeout

    @classmethod
    def from_documents(
        cls,
        documents: Iterable[Document],
        *,
        embed_model: Embedder | None = None,
        store: Store | None = None,
        persist_dir: str | Path | None = None,
        transformations: Sequence[Transformation] | None = None,
        batch_size: int = DEFAULT_BATCH_SIZE,
        lock_timeout: float = 2.0,
        total: int | None = None,
        progress: ProgressCallback | None = None,
        show_progress: bool = False,
    ) -> Self:
        """Make an index of documents, or bring the one in `persist_dir` up to date with them.

        Args:
            documents: The documents; an iterator is read as it goes, a batch at a time.
            embed_model: The embedding model; where None, `Settings.embed_model` or the packaged one. It embeds one word
                when an index is made, to learn the number of dimensions.
            store: Where to keep the passages; or
            persist_dir: the directory to keep them in. In memory where neither is given.
            transformations: What cuts documents into passages, then what changes the passages.
            batch_size: The passages embedded in one call. They are written every two seconds.
            lock_timeout: How long to wait for another writer, in seconds.
            total: How many documents there are, where `documents` has no length.
            progress: Called after every batch, with what is stored by then.
            show_progress: Whether to write progress to standard error.
        """
        model = embed_model or embed_model_for_new_index()
        if store is None and persist_dir is None:
            store = MemoryStore(StoreMeta(model.model_name, dimensions_of(model)))
        elif store is None:
            assert persist_dir is not None
            store = open_or_create_store(persist_dir, model)
        index = cls(
            store, embed_model=model, transformations=transformations, batch_size=batch_size, lock_timeout=lock_timeout
        )
        index.refresh(documents, total=total, progress=progress, show_progress=show_progress)
        return index

    @classmethod
    async def afrom_documents(
        cls,
        documents: Iterable[Document],
        *,
        embed_model: Embedder | None = None,
        store: Store | None = None,
        persist_dir: str | Path | None = None,
        transformations: Sequence[Transformation] | None = None,
        batch_size: int = DEFAULT_BATCH_SIZE,
        lock_timeout: float = 2.0,
        total: int | None = None,
        progress: ProgressCallback | None = None,
        show_progress: bool = False,
    ) -> Self:
        """Make an index of documents as `from_documents` does, without blocking; documents are read in a thread."""
        model = embed_model or embed_model_for_new_index()
        if store is None and persist_dir is None:
            store = MemoryStore(StoreMeta(model.model_name, await adimensions_of(model)))
        elif store is None:
            assert persist_dir is not None
            store = await aopen_or_create_store(persist_dir, model)
        index = cls(
            store, embed_model=model, transformations=transformations, batch_size=batch_size, lock_timeout=lock_timeout
        )
        await index.arefresh(documents, total=total, progress=progress, show_progress=show_progress)
        return index

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        embed_model: Embedder | None = None,
        transformations: Sequence[Transformation] | None = None,
        batch_size: int = DEFAULT_BATCH_SIZE,
        lock_timeout: float = 2.0,
    ) -> Self:
        """Open the index in a directory; nothing is embedded for it.

        Args:
            path: The index's directory.
            embed_model: The model the index was built with; where None, `Settings.embed_model`, or the packaged model
                if the index was built with that.
            transformations: What cuts documents into passages, for documents to come.
            batch_size: The passages embedded in one call. They are written every two seconds.
            lock_timeout: How long to wait for another writer, in seconds.

        Raises:
            IndexNotFound: There is no index.
            IndexDamaged: It cannot be read.
            IndexVersionMismatch: It has another form.
            EmbeddingMismatch: It was built with another model.
        """
        return cls(
            store := LanceStore.open(path),
            embed_model=embed_model or embed_model_for_index_of(store.meta.embed_model),
            transformations=transformations,
            batch_size=batch_size,
            lock_timeout=lock_timeout,
        )

    @classmethod
    async def aopen(
        cls,
        path: str | Path,
        *,
        embed_model: Embedder | None = None,
        transformations: Sequence[Transformation] | None = None,
        batch_size: int = DEFAULT_BATCH_SIZE,
        lock_timeout: float = 2.0,
    ) -> Self:
        """Open the index in a directory as `open` does, without blocking."""
        return cls(
            store := await LanceStore.aopen(path),
            embed_model=embed_model or embed_model_for_index_of(store.meta.embed_model),
            transformations=transformations,
            batch_size=batch_size,
            lock_timeout=lock_timeout,
        )

    @property
    def store(self) -> Store:
        """Where the passages are."""
        return self._store

    @property
    def embed_model(self) -> Embedder | None:
        """The model that makes the vectors."""
        return self._embed_model

    def as_retriever(
        self,
        similarity_top_k: int = DEFAULT_TOP_K,
        *,
        filters: MetadataFilters | None = None,
        vector_store_query_mode: str = "hybrid",
        dense_weight: float = 1.0,
        keyword_weight: float = 1.0,
    ) -> Retriever:
        """Return a search over the index.

        Args:
            similarity_top_k: The most passages returned.
            filters: Conditions on metadata that every passage must meet.
            vector_store_query_mode: "hybrid" searches by meaning and by words, "default" by meaning alone,
                "text_search" by words alone.
            dense_weight: How much the search by meaning counts in "hybrid".
            keyword_weight: How much the search by words counts in "hybrid".

        Raises:
            InvalidOption: There is no such mode.
        """
        match vector_store_query_mode:
            case "hybrid":
                return HybridRetriever(
                    self._store,
                    self._embed_model,
                    similarity_top_k=similarity_top_k,
                    filters=filters,
                    dense_weight=dense_weight,
                    keyword_weight=keyword_weight,
                )
            case "default":
                return VectorIndexRetriever(
                    self._store, self._embed_model, similarity_top_k=similarity_top_k, filters=filters
                )
            case "text_search":
                return BM25Retriever(self._store, similarity_top_k=similarity_top_k, filters=filters)
            case unknown:
                raise InvalidOption("vector_store_query_mode", unknown, "hybrid, default or text_search")

    def insert(self, document: Document) -> IngestReport:
        """Store a document in place of what is stored under its identity; one that has not changed costs nothing."""
        return self.refresh([document])

    async def ainsert(self, document: Document) -> IngestReport:
        """Store a document in place of what is stored under its identity; one that has not changed costs nothing."""
        return await self.arefresh([document])

    def refresh(
        self,
        documents: Iterable[Document],
        *,
        total: int | None = None,
        progress: ProgressCallback | None = None,
        show_progress: bool = False,
    ) -> IngestReport:
        """Store new documents, replace changed ones, pass by those that are stored as they are.

        Args:
            documents: The documents; an iterator is read as it goes, a batch at a time.
            total: How many there are, where `documents` has no length.
            progress: Called after every batch, with what is stored by then.
            show_progress: Whether to write progress to standard error.

        Returns:
            What was done.

        Raises:
            IndexLocked: Another writer did not end within the index's `lock_timeout`.
            IndexNotWritable: The directory cannot be written. What was stored is kept.
            MissingPart: The index has no embedding model.
        """
        callbacks = _callbacks(progress, show_progress)
        model = self._model()
        with writing(self._store, self._lock_timeout):
            known = self._store.document_hashes(_asked(documents))
            report = run_ingest(self._steps(documents, known, total), model, self._store, callbacks)
            self._store.optimize()
        return report

    async def arefresh(
        self,
        documents: Iterable[Document],
        *,
        total: int | None = None,
        progress: ProgressCallback | None = None,
        show_progress: bool = False,
    ) -> IngestReport:
        """Do what `refresh` does without blocking; documents are read and cut in a thread."""
        callbacks = _callbacks(progress, show_progress)
        model = self._model()
        async with awriting(self._store, self._lock_timeout):
            known = await self._store.adocument_hashes(_asked(documents))
            report = await arun_ingest(self._steps(documents, known, total), model, self._store, callbacks)
            await self._store.aoptimize()
        return report

    def insert_nodes(self, nodes: Sequence[TextNode]) -> None:
        """Store ready passages, each in place of the one with its identity. They do not make a document known."""
        model = self._model()
        with writing(self._store, self._lock_timeout):
            for batch in self._batches(nodes):
                texts = [node.get_content(MetadataMode.EMBED) for node in batch]
                self._store.add_nodes(batch, text_vectors(model, texts, self._store))
            self._store.optimize()

    async def ainsert_nodes(self, nodes: Sequence[TextNode]) -> None:
        """Store ready passages, each in place of the one with its identity. They do not make a document known."""
        model = self._model()
        async with awriting(self._store, self._lock_timeout):
            for batch in self._batches(nodes):
                texts = [node.get_content(MetadataMode.EMBED) for node in batch]
                await self._store.aadd_nodes(batch, await atext_vectors(model, texts, self._store))
            await self._store.aoptimize()

    def delete(self, doc_id: str) -> int:
        """Remove a document; return how many passages it had, 0 where it is not there."""
        with writing(self._store, self._lock_timeout):
            return self._store.delete_documents([doc_id])

    async def adelete(self, doc_id: str) -> int:
        """Remove a document; return how many passages it had, 0 where it is not there."""
        async with awriting(self._store, self._lock_timeout):
            return await self._store.adelete_documents([doc_id])

    def delete_ref_doc(self, ref_doc_id: str) -> int:
        """Remove a document; return how many passages it had, 0 where it is not there."""
        return self.delete(ref_doc_id)

    async def adelete_ref_doc(self, ref_doc_id: str) -> int:
        """Remove a document; return how many passages it had, 0 where it is not there."""
        return await self.adelete(ref_doc_id)

    def delete_nodes(self, node_ids: Sequence[str]) -> int:
        """Remove passages; return how many were there."""
        with writing(self._store, self._lock_timeout):
            return self._store.delete_nodes(node_ids)

    async def adelete_nodes(self, node_ids: Sequence[str]) -> int:
        """Remove passages; return how many were there."""
        async with awriting(self._store, self._lock_timeout):
            return await self._store.adelete_nodes(node_ids)

    def _model(self) -> Embedder:
        if self._embed_model is None:
            raise MissingPart(f"the embedding model {self._store.meta.embed_model} (embed_model)", type(self).__name__)
        return self._embed_model

    def _steps(self, documents: Iterable[Document], known: dict[str, str], total: int | None) -> IngestSteps:
        transformations = default_transformations() if self._transformations is None else self._transformations
        return ingest_steps(documents, known, transformations, batch_size=self._batch_size, total=total)

    def _batches(self, nodes: Sequence[TextNode]) -> Iterable[Sequence[TextNode]]:
        for start in range(0, len(nodes), self._batch_size):
            yield nodes[start : start + self._batch_size]


def _callbacks(progress: ProgressCallback | None, show_progress: bool) -> list[ProgressCallback]:
    return ([progress] if progress else []) + ([print_progress] if show_progress else [])


def _asked(documents: Iterable[Document]) -> list[str] | None:
    """The identities to ask the store for: of a few documents only those, of many or unknown ones all."""
    if isinstance(documents, list | tuple) and len(documents) <= 100:
        return [document.id_ for document in documents]
    return None
