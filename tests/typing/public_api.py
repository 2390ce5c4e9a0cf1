"""Never run: only type-checked, so that the public API keeps its types."""

from __future__ import annotations

from typing import assert_type

from responsa.embeddings.openai_like import OpenAILikeEmbedding
from responsa.llms import LLM, ChatResponse, CompletionResponse, CustomLLM
from responsa.llms.openai_like import OpenAILike
from responsa.memory import SimpleChatStore, SQLAlchemyChatStore
from responsa.rerank.openai_like import OpenAILikeRerank
from responsa.schema import protocols
from responsa.schema.messages import ChatMessage


def models(mine: CustomLLM) -> tuple[protocols.LLM, protocols.LLM, protocols.Embedder]:
    """The seams are kept to by what we ship and by what users write."""
    return OpenAILike("qwen", api_base=["http://a/v1", "http://b/v1"]), mine, OpenAILikeEmbedding("bge-m3")


def stores() -> list[protocols.ChatStore]:
    """The chat stores we ship keep to their seam."""
    return [SimpleChatStore(), SimpleChatStore("chats.jsonl"), SQLAlchemyChatStore("chats.db")]


async def calls(llm: LLM) -> None:
    """What people call themselves returns what it says."""
    assert_type(llm.complete("x", max_tokens=3), CompletionResponse)
    assert_type(await llm.achat([ChatMessage("user", "x")]), ChatResponse)
    assert_type([step.delta for step in llm.stream_complete("x")], list[str | None])
    assert_type(await OpenAILikeRerank().arerank("x", ["y"]), list[float])
