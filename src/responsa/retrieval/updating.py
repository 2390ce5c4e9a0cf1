"""The passages of a store kept up to date with documents: stored, replaced, removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from responsa.schema.errors import EmbeddingMismatch, InvalidOption, MissingPart
from responsa.schema.nodes import Document, MetadataMode, TextNode
from responsa.schema.protocols import Embedder

from .defaults import default_transformations
from .embedding import atext_vectors, text_vectors
from .ingest import DEFAULT_BATCH_SIZE, IngestSteps, Transformation, ingest_steps
from .progress import IngestReport, ProgressCallback, print_progress
from .stores.contract import Store
from .writing import arun_ingest, awriting, run_ingest, writing


class UpdatedPassages:
    """Passages of documents in a store, and the model that makes their vectors.

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

    @property
    def store(self) -> Store:
        """Where the passages are."""
        return self._store

    @property
    def embed_model(self) -> Embedder | None:
        """The model that makes the vectors."""
        return self._embed_model

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
        force: bool = False,
        progress: ProgressCallback | None = None,
        show_progress: bool = False,
    ) -> IngestReport:
        """Store new documents, replace changed ones, pass by those that are stored as they are.

        Args:
            documents: The documents; an iterator is read as it goes, a batch at a time.
            total: How many there are, where `documents` has no length.
            force: Whether documents that have not changed are cut and embedded again too. What is stored of a document
                is found until the new is.
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
            report = run_ingest(self._steps(documents, known, total, force), model, self._store, callbacks)
            self._store.optimize()
        return report

    async def arefresh(
        self,
        documents: Iterable[Document],
        *,
        total: int | None = None,
        force: bool = False,
        progress: ProgressCallback | None = None,
        show_progress: bool = False,
    ) -> IngestReport:
        """Do what `refresh` does without blocking; documents are read and cut in a thread."""
        callbacks = _callbacks(progress, show_progress)
        model = self._model()
        async with awriting(self._store, self._lock_timeout):
            known = await self._store.adocument_hashes(_asked(documents))
            report = await arun_ingest(self._steps(documents, known, total, force), model, self._store, callbacks)
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

    def _steps(
        self, documents: Iterable[Document], known: dict[str, str], total: int | None, force: bool
    ) -> IngestSteps:
        transformations = default_transformations() if self._transformations is None else self._transformations
        return ingest_steps(documents, known, transformations, batch_size=self._batch_size, total=total, force=force)

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
