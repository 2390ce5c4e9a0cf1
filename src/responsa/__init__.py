"""Responsa: answers from documents, planned before they run and traced to their sources.

The names below load what they need when they are first used; `import responsa` itself loads nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .indices import VectorStoreIndex
    from .packing.chat_prompt_helper import ChatPromptHelper
    from .packing.prompt_helper import PromptHelper
    from .prompts import ChatPromptTemplate, PromptTemplate, RichPromptTemplate, SelectorPromptTemplate
    from .query_engine import RetrieverQueryEngine
    from .response_synthesizers import BaseSynthesizer, ResponseMode, get_response_synthesizer
    from .retrieval.readers import SimpleDirectoryReader
    from .schema.nodes import Document, NodeWithScore, QueryBundle, TextNode
    from .schema.response import AsyncStreamingResponse, Response, StreamingResponse
    from .settings import Settings

__version__ = "0.1.0"

_HOMES = {
    "AsyncStreamingResponse": ".schema.response",
    "BaseSynthesizer": ".response_synthesizers",
    "ChatPromptHelper": ".packing.chat_prompt_helper",
    "ChatPromptTemplate": ".prompts",
    "Document": ".schema.nodes",
    "NodeWithScore": ".schema.nodes",
    "PromptHelper": ".packing.prompt_helper",
    "PromptTemplate": ".prompts",
    "QueryBundle": ".schema.nodes",
    "Response": ".schema.response",
    "ResponseMode": ".response_synthesizers",
    "RetrieverQueryEngine": ".query_engine",
    "RichPromptTemplate": ".prompts",
    "SelectorPromptTemplate": ".prompts",
    "Settings": ".settings",
    "SimpleDirectoryReader": ".retrieval.readers",
    "StreamingResponse": ".schema.response",
    "TextNode": ".schema.nodes",
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
    "Response",
    "ResponseMode",
    "RetrieverQueryEngine",
    "RichPromptTemplate",
    "SelectorPromptTemplate",
    "Settings",
    "SimpleDirectoryReader",
    "StreamingResponse",
    "TextNode",
    "VectorStoreIndex",
    "get_response_synthesizer",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'responsa' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
