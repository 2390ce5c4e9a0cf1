"""Chat: each engine one program over the same drivers; rewriting, retrieval and memory kept apart."""

from .base import BaseChatEngine
from .condense_plus_context import CondensePlusContextChatEngine
from .condense_question import CondenseQuestionChatEngine
from .context import ContextChatEngine
from .simple import SimpleChatEngine
from .types import ChatMode

__all__ = [
    "BaseChatEngine",
    "ChatMode",
    "CondensePlusContextChatEngine",
    "CondenseQuestionChatEngine",
    "ContextChatEngine",
    "SimpleChatEngine",
]
