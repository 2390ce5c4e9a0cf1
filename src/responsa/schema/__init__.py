"""Data only: nodes, messages, completions, events, responses, errors, and the seams' protocols. No I/O."""

from .completions import Completion, Delta, Finish, LLMMetadata, Sampling, Timings, Usage
from .messages import ChatMessage, ImageBlock, MessageRole, TextBlock
from .nodes import Document, MetadataMode, NodeWithScore, QueryBundle, TextNode
from .spans import Span

__all__ = [
    "ChatMessage",
    "Completion",
    "Delta",
    "Document",
    "Finish",
    "ImageBlock",
    "LLMMetadata",
    "MessageRole",
    "MetadataMode",
    "NodeWithScore",
    "QueryBundle",
    "Sampling",
    "Span",
    "TextBlock",
    "TextNode",
    "Timings",
    "Usage",
]
