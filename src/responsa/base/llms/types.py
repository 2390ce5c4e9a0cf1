"""Messages and what a model returns, at the place LlamaIndex has them."""

from __future__ import annotations

from responsa.llms.responses import (
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
)
from responsa.schema.completions import LLMMetadata
from responsa.schema.messages import ChatMessage, ContentBlock, ImageBlock, MessageRole, TextBlock

__all__ = [
    "ChatMessage",
    "ChatResponse",
    "ChatResponseAsyncGen",
    "ChatResponseGen",
    "CompletionResponse",
    "CompletionResponseAsyncGen",
    "CompletionResponseGen",
    "ContentBlock",
    "ImageBlock",
    "LLMMetadata",
    "MessageRole",
    "TextBlock",
]
