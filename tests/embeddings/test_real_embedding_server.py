"""Embedding and reranking on a real llama-server: the protocol, not the meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from responsa.embeddings.openai_like import OpenAILikeEmbedding
from responsa.llms.openai_like import OpenAILike
from responsa.local.llama_server import LlamaServer
from responsa.rerank.openai_like import OpenAILikeRerank
from responsa.schema.errors import InputTooLong, RequestRefused

pytestmark = pytest.mark.real_server


@pytest.fixture
def embedding(embedding_server: LlamaServer) -> Iterator[OpenAILikeEmbedding]:
    model = OpenAILikeEmbedding(embedding_server.model, api_base=embedding_server.url, embed_batch_size=4)
    yield model
    model.close()


def likeness(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


COLOURS = ("red", "green", "blue", "yellow", "black", "white", "grey", "pink")
TEXTS = [f"{number} {colour}" for number, colour in enumerate(COLOURS)]


def test_each_text_gets_its_own_vector_in_its_place(embedding: OpenAILikeEmbedding) -> None:
    vectors = embedding.get_text_embedding_batch(TEXTS)
    alone = [embedding.get_text_embedding(text) for text in TEXTS]
    assert len({len(vector) for vector in vectors}) == 1
    for place, vector in enumerate(alone):
        nearest = max(range(len(TEXTS)), key=lambda other: likeness(vector, vectors[other]))
        assert nearest == place


def test_both_sides_and_both_encodings_give_the_same_vectors(
    embedding_server: LlamaServer, embedding: OpenAILikeEmbedding
) -> None:
    floats = OpenAILikeEmbedding(
        embedding_server.model,
        api_base=embedding_server.url,
        embed_batch_size=4,
        num_workers=1,
        encoding_format="float",
    )
    packed = asyncio.run(embedding.aget_text_embedding_batch(TEXTS))
    for one, other in zip(packed, floats.get_text_embedding_batch(TEXTS), strict=True):
        assert likeness(one, other) > 0.99
    floats.close()


def test_a_text_too_long_for_the_server_is_named(embedding: OpenAILikeEmbedding) -> None:
    with pytest.raises(InputTooLong) as caught:
        embedding.get_text_embedding_batch(["a", "b", "c", "d", "e", "long " * 700, "f"])
    assert caught.value.position == 5


def test_an_answering_server_that_does_not_embed_says_so(llama_server: LlamaServer) -> None:
    model = OpenAILikeEmbedding(llama_server.model, api_base=llama_server.url, max_retries=0)
    with pytest.raises(RequestRefused) as caught:
        model.get_query_embedding("x")
    assert "embedding" in caught.value.message
    model.close()


def test_an_embedding_server_still_tells_its_window(embedding_server: LlamaServer) -> None:
    llm = OpenAILike(api_base=embedding_server.url)
    assert llm.metadata.context_window == 512
    llm.close()


def test_a_reranking_server_scores_every_text(smollm2: Path) -> None:
    with LlamaServer(smollm2, context_window=256, threads=1, pooling="rank") as server:
        rerank: Any = OpenAILikeRerank(api_base=server.url)
        scores = rerank.rerank("Which colour?", TEXTS)
        again = asyncio.run(rerank.arerank("Which colour?", TEXTS))
        rerank.close()
    assert len(scores) == len(again) == len(TEXTS)
    assert scores == pytest.approx(again, abs=0.05)
