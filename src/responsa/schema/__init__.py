"""Data only: nodes, messages, completions, events, responses, errors, and the seams' protocols. No I/O."""

from .completions import Completion, Delta, Finish, LLMMetadata, Sampling, Timings, Usage
from .filters import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from .messages import ChatMessage, ImageBlock, MessageRole, TextBlock
from .nodes import Document, MetadataMode, NodeWithScore, QueryBundle, TextNode
from .spans import Span

__all__ = [
    "ChatMessage",
    "Completion",
    "Delta",
    "Document",
    "FilterCondition",
    "FilterOperator",
    "Finish",
    "ImageBlock",
    "LLMMetadata",
    "MessageRole",
    "MetadataFilter",
    "MetadataFilters",
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
