"""Language models: the base of one's own, and those behind an OpenAI-compatible server."""

from typing import TYPE_CHECKING

from ..lazy_exports import lazy_exports
from ..schema.completions import LLMMetadata
from ..schema.messages import ChatMessage, ImageBlock, MessageRole, TextBlock
from .base import LLM
from .responses import (
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
)

if TYPE_CHECKING:
    from .custom import CustomLLM
    from .openai_like import OpenAILike

__all__ = [
    "LLM",
    "ChatMessage",
    "ChatResponse",
    "ChatResponseAsyncGen",
    "ChatResponseGen",
    "CompletionResponse",
    "CompletionResponseAsyncGen",
    "CompletionResponseGen",
    "CustomLLM",
    "ImageBlock",
    "LLMMetadata",
    "MessageRole",
    "OpenAILike",
    "TextBlock",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(__name__, {"CustomLLM": ".custom", "OpenAILike": ".openai_like"})
