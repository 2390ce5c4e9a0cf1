"""What the program's tests run on: an index in memory and a scripted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from responsa.cli.options import ServerChoice
from responsa.cli.parts import Parts
from responsa.indices import VectorStoreIndex
from responsa.retrieval.splitting import SentenceSplitter
from responsa.schema.errors import IndexNotFound
from responsa.schema.nodes import Document
from responsa.schema.protocols import LLM, Embedder
from responsa.testing import ScriptedLLM
from responsa.testing.embedder import BagOfWordsEmbedder

DOCUMENTS = (
    ("harbor.md", "Harbor Library", "A member can borrow up to eight books. The loan lasts three weeks."),
    ("pump.md", "X200 Pump", "The X200 pump needs ISO VG 46 oil. Change the oil every 500 hours."),
    ("图书馆.md", "海港图书馆", "会员最多可以借八本书。借期为三周。"),
)


@dataclass(frozen=True)
class Result:
    """What one run gave."""

    code: int
    out: str
    err: str


class MemoryParts(Parts):
    """Indexes in memory, a scripted model, and a note of what was asked for."""

    def __init__(self, llm: LLM | None = None, documents: tuple[tuple[str, str, str], ...] = DOCUMENTS) -> None:
        super().__init__()
        self.scripted = llm or ScriptedLLM("A member can borrow up to eight books.")
        self.documents = documents
        self.indexes: dict[Path, VectorStoreIndex] = {}
        self.chosen: list[ServerChoice] = []

    def llm(self, choice: ServerChoice) -> LLM:
        self.chosen.append(choice)
        return self.scripted

    def embedder(self, choice: ServerChoice) -> Embedder:
        self.chosen.append(choice)
        return BagOfWordsEmbedder(model_name=choice.model or "served")

    def packaged_embedder(self) -> Embedder:
        return BagOfWordsEmbedder()

    def index_to_fill(self, path: Path, choice: ServerChoice | None, *, chunk_size: int) -> VectorStoreIndex:
        if path not in self.indexes:
            model = self.packaged_embedder() if choice is None else self.embedder(choice)
            splitter = SentenceSplitter(chunk_size)
            self.indexes[path] = VectorStoreIndex.from_documents([], embed_model=model, transformations=[splitter])
        return self.indexes[path]

    def open_index(self, path: Path, embedder: Embedder | None) -> VectorStoreIndex:
        if path.name == "missing":
            raise IndexNotFound(str(path))
        index = self.index_to_fill(path, None, chunk_size=64)
        for name, title, text in self.documents if path.name != "empty" else ():
            metadata = {"file_path": f"/shelf/{name}", "title": title}
            index.insert(Document(text, id_=name, metadata=metadata, excluded_llm_metadata_keys=["file_path"]))
        return index


Run = Callable[..., Result]
