"""A memory that is given beforehand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from responsa.programs.effects import Program
from responsa.schema.errors import InvalidOption
from responsa.schema.messages import TextBlock

from .base import BaseMemoryBlock, Recollection


class StaticMemoryBlock(BaseMemoryBlock):
    """Shows the model the same text at every turn.

    Args:
        static_content: The text, or text blocks.
        name: Its name.
        description: What it is for.
        priority: See `BaseMemoryBlock`.
    """

    def __init__(
        self,
        static_content: str | Sequence[TextBlock],
        *,
        name: str = "StaticContent",
        description: str | None = None,
        priority: int = 0,
    ) -> None:
        super().__init__(name, description=description, priority=priority)
        blocks = [TextBlock(static_content)] if isinstance(static_content, str) else list(static_content)
        if not all(isinstance(block, TextBlock) for block in blocks):
            raise InvalidOption("static_content", static_content, "text, or text blocks")
        self.static_content = "\n".join(block.text for block in blocks)

    def content(self, state: Any, recollection: Recollection) -> Program[str]:
        return self.static_content
        yield ()
