"""The synthesis modes, one short program each."""

from .base import BaseSynthesizer
from .compact_and_refine import CompactAndRefine
from .refine import Refine
from .task import Answer, Task

__all__ = ["Answer", "BaseSynthesizer", "CompactAndRefine", "Refine", "Task"]
