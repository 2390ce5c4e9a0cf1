"""Language models: the base of one's own, and those behind an OpenAI-compatible server."""

from .base import LLM
from .custom import CustomLLM
from .responses import ChatResponse, CompletionResponse

__all__ = ["LLM", "ChatResponse", "CompletionResponse", "CustomLLM"]
