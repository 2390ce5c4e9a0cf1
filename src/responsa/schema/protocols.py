"""The seams: what the engine needs of a model, an embedder and a reranker, whoever makes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Protocol

from .completions import LLMMetadata, Sampling, StreamItem
from .messages import ChatMessage
from .nodes import NodeWithScore, QueryBundle


class LLM(Protocol):
    """A model that answers messages with a stream. Closing the stream cancels the request.

    Every method without `a` in front blocks; its twin with `a` does not. A stream yields `Delta`s and then one
    `Finish`; it raises one of `responsa.schema.errors` when it fails.
    """

    @property
    def metadata(self) -> LLMMetadata: ...
    async def ametadata(self) -> LLMMetadata: ...

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> Generator[StreamItem, None, None]: ...
    def astream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncGenerator[StreamItem, None]: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]: ...
    async def acount_tokens(self, texts: Sequence[str]) -> list[int]: ...
    def count_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]: ...
    async def acount_prompts(self, prompts: Sequence[Sequence[ChatMessage]]) -> list[int]: ...


class Embedder(Protocol):
    """A model that turns texts into vectors, told apart as queries and passages."""

    @property
    def model_name(self) -> str: ...

    def get_query_embedding(self, query: str) -> list[float]: ...
    async def aget_query_embedding(self, query: str) -> list[float]: ...
    def get_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]: ...
    async def aget_text_embedding_batch(self, texts: Sequence[str]) -> list[list[float]]: ...


class Retriever(Protocol):
    """Finds passages for a question, best first."""

    def retrieve(self, query: str | QueryBundle) -> list[NodeWithScore]: ...
    async def aretrieve(self, query: str | QueryBundle) -> list[NodeWithScore]: ...


class Postprocessor(Protocol):
    """Filters, reorders or rescores retrieved passages, leaving the given ones as they are."""

    def postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]: ...
    async def apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None, query_str: str | None = None
    ) -> list[NodeWithScore]: ...


class Reranker(Protocol):
    """A model that says how well texts answer a question: one score a text, in their order, higher for better."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]: ...
    async def arerank(self, query: str, texts: Sequence[str]) -> list[float]: ...
