"""The budget of a call, and the packing of passages into it. Loaded when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from .chat_prompt_helper import ChatPromptHelper
    from .prompt_helper import PromptHelper

__all__ = [
    "ChatPromptHelper",
    "PromptHelper",
]

if not TYPE_CHECKING:
    __getattr__ = lazy_exports(
        __name__,
        {
            "ChatPromptHelper": ".chat_prompt_helper",
            "PromptHelper": ".prompt_helper",
        },
    )
