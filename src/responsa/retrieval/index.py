"""The index: made of documents or opened, and a retriever out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

from responsa.schema.errors import InvalidOption
from responsa.schema.filters import MetadataFilters
from responsa.schema.nodes import Document
from responsa.schema.protocols import Embedder, Retriever

from .defaults import embed_model_for_index_of, embed_model_for_new_index
from .embedding import adimensions_of, dimensions_of
from .ingest import DEFAULT_BATCH_SIZE, Transformation
from .progress import ProgressCallback
from .retrievers import DEFAULT_TOP_K, BM25Retriever, HybridRetriever, VectorIndexRetriever
from .stores.contract import Store, StoreMeta
from .stores.lance import LanceStore
from .stores.memory import MemoryStore
from .stores.opening import aopen_or_create_store, open_or_create_store
from .updating import UpdatedPassages


class PassageIndex(UpdatedPassages):
    """Passages of documents, found again by meaning and by words.

    See `UpdatedPassages` for its keywords, and for how it is kept up to date.
    """

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
