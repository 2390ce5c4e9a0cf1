"""Language models: the base of one's own, and those behind an OpenAI-compatible server."""

from ..schema.completions import LLMMetadata
from ..schema.messages import ChatMessage, ImageBlock, MessageRole, TextBlock
from .base import LLM
from .custom import CustomLLM
from .responses import (
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
)

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
    "TextBlock",
]
