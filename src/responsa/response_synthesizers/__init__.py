"""The synthesis modes, one short program each."""

from .accumulate import Accumulate, answered
from .base import BaseSynthesizer
from .compact_and_accumulate import CompactAndAccumulate
from .compact_and_refine import CompactAndRefine
from .context_only import ContextOnly
from .factory import get_response_synthesizer
from .generation import Generation
from .no_text import NoText
from .refine import Refine
from .simple_summarize import SimpleSummarize
from .task import Answer, Task
from .tree_summarize import TreeSummarize
from .type import ResponseMode
from .window import Window, show

__all__ = [
    "Accumulate",
    "Answer",
    "BaseSynthesizer",
    "CompactAndAccumulate",
    "CompactAndRefine",
    "ContextOnly",
    "Generation",
    "NoText",
    "Refine",
    "ResponseMode",
    "SimpleSummarize",
    "Task",
    "TreeSummarize",
    "Window",
    "answered",
    "get_response_synthesizer",
    "show",
]
