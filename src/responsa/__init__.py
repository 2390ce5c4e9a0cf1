"""Responsa: answers from documents, planned before they run and traced to their sources.

The names below load what they need when they are first used; `import responsa` itself loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .indices import VectorStoreIndex
    from .packing.chat_prompt_helper import ChatPromptHelper
    from .packing.prompt_helper import PromptHelper
    from .prompts import ChatPromptTemplate, PromptTemplate, RichPromptTemplate, SelectorPromptTemplate
    from .query_engine import RetrieverQueryEngine
    from .response_synthesizers import BaseSynthesizer, ResponseMode, get_response_synthesizer
    from .retrieval.readers import SimpleDirectoryReader
    from .schema.errors import ResponsaError, RunError, ServerError, UsageError
    from .schema.nodes import Document, NodeWithScore, QueryBundle, TextNode
    from .schema.response import Response
    from .schema.streaming_response import AsyncStreamingResponse, StreamingResponse
    from .settings import Settings

__version__ = "0.1.0"

_HOMES = {
    "AsyncStreamingResponse": ".schema.streaming_response",
    "BaseSynthesizer": ".response_synthesizers",
    "ChatPromptHelper": ".packing.chat_prompt_helper",
    "ChatPromptTemplate": ".prompts",
    "Document": ".schema.nodes",
    "NodeWithScore": ".schema.nodes",
    "PromptHelper": ".packing.prompt_helper",
    "PromptTemplate": ".prompts",
    "QueryBundle": ".schema.nodes",
    "Response": ".schema.response",
    "ResponsaError": ".schema.errors",
    "ResponseMode": ".response_synthesizers",
    "RetrieverQueryEngine": ".query_engine",
    "RichPromptTemplate": ".prompts",
    "RunError": ".schema.errors",
    "SelectorPromptTemplate": ".prompts",
    "ServerError": ".schema.errors",
    "Settings": ".settings",
    "SimpleDirectoryReader": ".retrieval.readers",
    "StreamingResponse": ".schema.streaming_response",
    "TextNode": ".schema.nodes",
    "UsageError": ".schema.errors",
    "VectorStoreIndex": ".indices",
    "get_response_synthesizer": ".response_synthesizers",
}

__all__ = [
    "AsyncStreamingResponse",
    "BaseSynthesizer",
    "ChatPromptHelper",
    "ChatPromptTemplate",
    "Document",
    "NodeWithScore",
    "PromptHelper",
    "PromptTemplate",
    "QueryBundle",
    "ResponsaError",
    "Response",
    "ResponseMode",
    "RetrieverQueryEngine",
    "RichPromptTemplate",
    "RunError",
    "SelectorPromptTemplate",
    "ServerError",
    "Settings",
    "SimpleDirectoryReader",
    "StreamingResponse",
    "TextNode",
    "UsageError",
    "VectorStoreIndex",
    "get_response_synthesizer",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
