"""Packing by hand, at the place LlamaIndex has it."""

from __future__ import annotations

from responsa.packing.chat_prompt_helper import ChatPromptHelper
from responsa.packing.prompt_helper import PromptHelper

__all__ = ["ChatPromptHelper", "PromptHelper"]
